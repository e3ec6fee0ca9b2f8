import { Select } from "@mantine/core";
import type { ServiceView } from "../../../../../contract/service.ts";
import type { MqttCertificate } from "../../../../../contract/services/mqtt.ts";
import { AuthorityActions } from "../../../ui/authority-actions.tsx";
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

/** The subscription and the message as a program of one’s own has them, with a transport of one’s choice. */
export function TryCommands({ draft, subscription, client, service }: TryCommandsProps) {
  const [language, setLanguage] = useRemembered<Language>("mqtt.try-language", "mosquitto");
  const [transport, setTransport] = useRemembered<BrokerTransport>("mqtt.try-transport", "mqtt");
  const certificate = useCertificate();
  const isMosquitto = language === "mosquitto";
  const wanted = brokerAddress(service, transport, certificate);
  // The tools of mosquitto 2.0 speak no WebSocket.
  const address =
    isMosquitto && usesWebSocket(wanted.transport)
      ? brokerAddress(service, usesTls(wanted.transport) ? "mqtts" : "mqtt", certificate)
      : wanted;
  const notes = [
    ...(isMosquitto ? mosquittoNotes(draft, client.version === 5 ? subscription : undefined) : []),
    ...(address !== wanted ? ["The mosquitto tools speak no WebSocket: these lines go over TCP."] : []),
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
      copies={client.password === "" ? "the lines" : "the lines, with the password"}
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

/** Clients refuse a broker whose certificate they do not trust: here it is to be had. */
export function CertificateToTrust({ certificate }: { readonly certificate: MqttCertificate | null | undefined }) {
  if (!certificate) return <p className={styles.trust}>Its certificate can be saved here once it runs.</p>;
  if (!certificate.isSelfMade)
    return <p className={styles.trust}>ca.pem is the file of the authority that signed the broker’s certificate.</p>;
  return (
    <div className={styles.trust}>
      <span title={certificate.file}>The lines trust Backlot’s authority; on another machine save its certificate first.</span>
      <AuthorityActions authority={certificate} />
    </div>
  );
}
