import { SegmentedControl } from "@mantine/core";
import { z } from "zod";
import { type RtspOffers, type RtspTransport, rtspTransports } from "../../../../contract/services/rtsp.ts";
import { useService } from "../../control/use-store.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { SameAs } from "../try/same-as.tsx";
import { type Player, playerLine, players, transportTitles } from "./player-lines.ts";
import { streamUrl } from "./stream-addresses.ts";
import { useRtspView } from "./use-rtsp-view.ts";

/** The transports that the service is configured for. */
export const offeredTransports = (offers: RtspOffers | undefined): readonly RtspTransport[] =>
  rtspTransports.filter((transport) => {
    if (transport === "udp" || transport === "multicast" || transport === "tls") return offers?.[transport] ?? transport === "udp";
    return true;
  });

interface PlayWithProps {
  readonly path: string;
  readonly transport: RtspTransport;
  /** Of the form; else placeholders where the service has users. */
  readonly username?: string;
  readonly password?: string;
  /** The transport can be changed here. */
  readonly onTransport?: (transport: RtspTransport) => void;
}

/** The same as lines for common players. */
export function PlayWith({ path, transport, username = "", password = "", onTransport }: PlayWithProps) {
  const service = useService("rtsp");
  const offers = useRtspView("offers");
  const [player, setPlayer] = useRemembered<Player>("rtsp.player", "ffplay", z.enum(players.map(({ value }) => value)));
  const login = username === "" && offers?.login ? { username: "USER", password: "PASSWORD" } : { username, password };
  const text = playerLine(player, { url: streamUrl(service, path, transport), transport, ...login });
  return (
    <SameAs
      title="Play with"
      languages={players}
      language={player}
      onLanguage={setPlayer}
      text={text ?? "VLC cannot play RTSPS."}
      copies="the lines"
      below={
        onTransport && (
          <SegmentedControl
            mt={8}
            aria-label="Transport"
            data={offeredTransports(offers).map((value) => ({ value, label: transportTitles[value] }))}
            value={transport}
            onChange={(value) => onTransport(value as RtspTransport)}
          />
        )
      }
    />
  );
}
