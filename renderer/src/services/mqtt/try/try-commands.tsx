import { Select } from "@mantine/core";
import { z } from "zod";
import type { ServiceView } from "../../../../../contract/service.ts";
import type { MqttCertificate } from "../../../../../contract/services/mqtt.ts";
import { Note } from "../../../ui/panel.tsx";
import { AuthorityNote } from "../../../ui/services/authority-actions.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { SameAs } from "../../try/same-as.tsx";
import { type BrokerTransport, brokerAddress, brokerTransports, usesTls, usesWebSocket } from "../broker/broker-address.ts";
import { useAnonymous, useCertificate } from "../broker/use-broker.ts";
import type { PublishDraft } from "../publish/publish-draft.ts";
import { commandLanguages, commandLines, type Language } from "./command-lines.ts";
import { mosquittoNotes } from "./mqtt-commands.ts";
import styles from "./mqtt-try.module.css";
import type { SubscribeDraft } from "./subscribe-draft.ts";
import { type CommandClient, namedClient } from "./try-client-draft.ts";

interface TryCommandsProps {
  readonly draft: PublishDraft;
  readonly subscription: SubscribeDraft;
  readonly client: CommandClient;
  readonly service: ServiceView | undefined;
}

/** The subscription and the message as commands or as code, over the chosen transport. */
export function TryCommands({ draft, subscription, client, service }: TryCommandsProps) {
  const [language, setLanguage] = useRemembered<Language>("mqtt.try-language", "mosquitto", z.enum(["mosquitto", "mqttjs", "paho"]));
  const [transport, setTransport] = useRemembered<BrokerTransport>("mqtt.try-transport", "mqtt", z.enum(["mqtt", "mqtts", "ws", "wss"]));
  const certificate = useCertificate();
  const isMosquitto = language === "mosquitto";
  const wanted = brokerAddress(service, transport, certificate);
  // The tools of mosquitto 2.0 do not support WebSocket.
  const address =
    isMosquitto && usesWebSocket(wanted.transport)
      ? brokerAddress(service, usesTls(wanted.transport) ? "mqtts" : "mqtt", certificate)
      : wanted;
  const notes = [
    ...(isMosquitto ? mosquittoNotes(draft, client.version === 5 ? subscription : undefined) : []),
    ...(address !== wanted ? ["The mosquitto tools do not support WebSocket: these commands use TCP."] : []),
  ];
  const anonymous = useAnonymous();
  const linesFor = (password: string) =>
    commandLines(language, draft, subscription, address, namedClient({ ...client, password }, anonymous));
  return (
    <SameAs
      languages={commandLanguages}
      language={language}
      onLanguage={setLanguage}
      text={linesFor(client.password === "" ? "" : "••••••")}
      copied={() => linesFor(client.password)}
      notes={notes}
      below={usesTls(address.transport) && <CertificateToTrust certificate={certificate} />}
      copies={client.password === "" ? "the commands" : "the commands with the password"}
    >
      <Select
        aria-label="Transport"
        size="xs"
        w={92}
        allowDeselect={false}
        data={brokerTransports(service)}
        value={wanted.transport}
        onChange={(value) => setTransport((value ?? "mqtt") as BrokerTransport)}
      />
    </SameAs>
  );
}

/** Clients refuse a broker whose certificate they do not trust. */
function CertificateToTrust({ certificate }: { readonly certificate: MqttCertificate | null | undefined }) {
  if (!certificate) return <Note className={styles.trust}>The CA certificate can be saved here while the service runs.</Note>;
  if (!certificate.isSelfMade)
    return <Note className={styles.trust}>ca.pem is the certificate of the authority that signed the broker’s.</Note>;
  return (
    <AuthorityNote authority={certificate}>The commands trust Backlot’s CA. On another computer save its certificate first.</AuthorityNote>
  );
}
