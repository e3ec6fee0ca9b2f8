import { Button, Group, SegmentedControl, TextInput } from "@mantine/core";
import { z } from "zod";
import type { ServiceView } from "../../../../../contract/service.ts";
import { useService } from "../../../control/use-store.ts";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { endpointsOf } from "../../../ui/texts/address.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { beforePath, withoutOuterSlashes } from "../stream-addresses.ts";
import { useRtspView } from "../use-rtsp-view.ts";
import {
  obsFields,
  type PublishedStream,
  type Publisher,
  type PublishTransport,
  publishers,
  publishLine,
  publishTransports,
} from "./publish-lines.ts";

const titles: Readonly<Record<PublishTransport, string>> = { tcp: "RTSP, TCP", udp: "RTSP, UDP", tls: "RTSPS", rtmp: "RTMP" };
const schemes: Readonly<Record<PublishTransport, string>> = { tcp: "rtsp", udp: "rtsp", tls: "rtsps", rtmp: "rtmp" };

const draftSchema = z.object({
  path: z.string(),
  publisher: z.enum(publishers.map(({ value }) => value)),
  transport: z.enum(publishTransports),
});
type Draft = z.output<typeof draftSchema>;
const firstDraft: Draft = { path: "live/mine", publisher: "ffmpeg", transport: "tcp" };

/** Undefined where the service does not listen for it. */
function originOf(service: ServiceView | undefined, transport: PublishTransport): string | undefined {
  const url = endpointsOf(service).find((endpoint) => endpoint.url.startsWith(`${schemes[transport]}://`))?.url;
  return url && beforePath(url);
}

/** How to publish a stream: lines for ffmpeg and GStreamer, and the fields of OBS. */
export function PublishDialog({ onClose }: { readonly onClose: () => void }) {
  const service = useService("rtsp");
  const offers = useRtspView("offers");
  const [draft, setDraft] = useRemembered("rtsp.publish", firstDraft, draftSchema);
  const { publisher } = draft;
  const isOffered = (transport: PublishTransport) =>
    transport === "rtmp" || (originOf(service, transport) !== undefined && (transport !== "udp" || (offers?.udp ?? true)));
  const transports = publisher === "obs" ? (["rtmp"] as const) : publishTransports.filter(isOffered);
  const transport = transports.find((one) => one === draft.transport) ?? transports[0] ?? "tcp";
  const origin = originOf(service, transport);
  const path = withoutOuterSlashes(draft.path.trim());
  const login = offers?.login ? { login: { username: "USER", password: "PASSWORD" } } : {};
  return (
    <Dialog opened title="Publish a stream" size="lg" onClose={onClose}>
      <TextInput
        label="Path"
        description="Players find the stream there. It is made by publishing, and goes when the publisher leaves."
        value={draft.path}
        onChange={({ currentTarget: { value } }) => setDraft((known) => ({ ...known, path: value }))}
        data-autofocus
      />
      <Group gap="md" my="md">
        <SegmentedControl
          aria-label="Publish with"
          data={publishers.map((one) => ({ ...one }))}
          value={publisher}
          onChange={(value) => setDraft((known) => ({ ...known, publisher: value as Publisher }))}
        />
        {publisher !== "obs" && (
          <SegmentedControl
            aria-label="Over"
            data={transports.map((value) => ({ value, label: titles[value] }))}
            value={transport}
            onChange={(value) => setDraft((known) => ({ ...known, transport: value as PublishTransport }))}
          />
        )}
      </Group>
      {origin === undefined ? (
        <Note>RTMP is off. Turn it on in Config, under Listening, or with RTSP_RTMP=true.</Note>
      ) : (
        <Lines publisher={publisher} stream={{ origin, path, transport, ...login }} />
      )}
      <DialogButtons>
        <Button onClick={onClose}>Close</Button>
      </DialogButtons>
    </Dialog>
  );
}

function Lines({ publisher, stream }: { readonly publisher: Publisher; readonly stream: PublishedStream }) {
  if (stream.path === "") return <Note>A path is needed.</Note>;
  if (publisher === "obs") {
    const fields = obsFields(stream);
    if (!fields) return <TwoNames />;
    return (
      <>
        <Pairs>
          <Pair name="Server" mono>
            <Copied text={fields.server} what="the server" />
          </Pair>
          <Pair name="Stream key" mono>
            <Copied text={fields.streamKey} what="the stream key" />
          </Pair>
        </Pairs>
        <Note>In OBS: Settings, Stream, and Custom as the service.</Note>
      </>
    );
  }
  const line = publishLine(publisher, stream);
  return line === undefined ? <TwoNames /> : <CommandLine command={line} wraps />;
}

const TwoNames = () => <Note>RTMP needs a path of two names or more, such as live/mine.</Note>;

const Copied = ({ text, what }: { readonly text: string; readonly what: string }) => (
  <Group gap={4} wrap="nowrap">
    <span style={{ overflowWrap: "anywhere" }}>{text}</span>
    <CopyButton text={text} what={what} />
  </Group>
);
