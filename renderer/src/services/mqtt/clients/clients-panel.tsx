import { IconFilter } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttClient, MqttClientPage } from "../../../../../contract/services/mqtt-client.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { useSuccessive } from "../../../control/use-successive.ts";
import type { DataTableHandle } from "../../../list/data-table.tsx";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { Caption, Note, PanelHead, SectionTitle, Spring } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { clockSeconds } from "../../../ui/texts/time.ts";
import { IconButton } from "../../../ui/toolbar.tsx";
import { useLastMqttView, useMqttView } from "../broker/use-broker.ts";
import { ClientDetails, ClientGone } from "./client-details.tsx";
import { ClientList } from "./client-list.tsx";
import { type ClientRates, clientRates, noClientRates } from "./client-rates.ts";
import styles from "./clients-panel.module.css";
import { DisconnectDialog } from "./disconnect-dialog.tsx";

/** Clients requested with a filter, and by scrolling to the end; further ones are only found by a filter. */
const clientsPerStep = 200;
const shownClients = 1_000;

interface ClientsPanelProps {
  readonly chosenId: string | undefined;
  readonly onChoose: (clientId: string | undefined) => void;
}

/** The clients with rates and queues, and the details of the selected one. */
export function ClientsPanel({ chosenId, onChoose }: ClientsPanelProps) {
  const page = useMqttView("clients");
  const last = useLastMqttView("clients");
  const sessions = useMqttView("figures", (figures) => figures.sessions) ?? 0;
  const [text, setText] = useState("");
  const [filtering, setFiltering] = useState(false);
  const [leaving, setLeaving] = useState<string>();
  const [limit, setLimit] = useState(clientsPerStep);
  const running = useService("mqtt")?.status.state === "running";
  const ended = page === undefined ? (last ?? (running ? undefined : nobody)) : undefined;
  const found = useShownClients(page, ended, text, limit);
  /** The broker that reported them has ended, and they with it. */
  const isGone = ended !== undefined;
  const shown = found.value ?? nobody;
  const rates = useSuccessive(shown, (known: ClientRates | undefined, page) => clientRates(known ?? noClientRates, page.clients, page.at));
  const { perSecond } = rates ?? noClientRates;
  const chosen = useChosenClient(chosenId, shown, isGone);
  const list = useRef<Pick<DataTableHandle, "focus">>(null);
  const close = () => {
    onChoose(undefined);
    list.current?.focus();
  };
  return (
    <section className={styles.panel} aria-label="Clients" data-open={chosen ? true : undefined}>
      <PanelHead>
        <SectionTitle>Clients</SectionTitle>
        <Caption>
          {formatCount(text === "" ? Math.max(sessions, shown.matching) : shown.matching)}
          {isGone && shown.matching > 0 && (
            <span title={`As the broker reported them last, at ${clockSeconds(shown.at)}`}> when it ended</span>
          )}
        </Caption>
        <Spring />
        {filtering && <FilterInput width={140} slash={false} focused placeholder="Filter clients" value={text} onChange={setText} />}
        <IconButton
          label="Filter clients by name or subscription"
          icon={IconFilter}
          pressed={filtering}
          onClick={() => {
            setFiltering(!filtering);
            setText("");
          }}
        />
      </PanelHead>
      <Answered answer={found} what="the clients" compact>
        {({ clients }) => (
          <ClientList
            ref={list}
            clients={clients}
            isGone={isGone}
            chosenId={chosenId}
            rates={perSecond}
            emptyText={emptyText(text, running)}
            onEndNear={() => setLimit(Math.min(shownClients, clients.length + clientsPerStep))}
            onChoose={onChoose}
            onDisconnect={setLeaving}
          />
        )}
      </Answered>
      {!isGone && shown.matching > shown.clients.length && limit === shownClients && (
        <Note className={styles.more}>{`${formatCount(shown.matching - shown.clients.length)} more: filter to find them`}</Note>
      )}
      {chosen && (
        <ClientDetails
          client={chosen}
          goneAt={isGone ? shown.at : undefined}
          ratePerSecond={perSecond.get(chosen.clientId) ?? 0}
          onClose={close}
          onDisconnect={() => setLeaving(chosen.clientId)}
        />
      )}
      {chosen === null && chosenId !== undefined && <ClientGone clientId={chosenId} onClose={close} />}
      <DisconnectDialog clientId={leaving} onClose={() => setLeaving(undefined)} />
    </section>
  );
}

function emptyText(filter: string, running: boolean): string {
  if (!running) return "The broker is not running.";
  return filter === "" ? "No client is connected. Connect one to the broker's address, above." : "No client matches the filter.";
}

type AnsweredPage = Pick<Answer<MqttClientPage>, "value" | "failure" | "isReading" | "again">;

const nobody: MqttClientPage = { at: 0, clients: [], matching: 0 };

/** Changes at most once a second, however often the views are updated. */
const secondOf = (page: MqttClientPage | undefined): number => Math.floor((page?.at ?? 0) / 1_000);

/** Of the clients that an ended broker had. */
function withText(page: MqttClientPage, text: string): MqttClientPage {
  const wanted = text.toLowerCase();
  const clients = page.clients.filter(({ clientId, subscriptions }) =>
    [clientId, ...subscriptions.map(({ filter }) => filter)].some((each) => each.toLowerCase().includes(wanted)),
  );
  return text === "" ? page : { at: page.at, clients, matching: clients.length };
}

/**
 * The clients of the view; with a filter, or if the list needs more than the view has, those that the broker finds. `ended` are those of a
 * broker that has ended.
 */
function useShownClients(page: MqttClientPage | undefined, ended: MqttClientPage | undefined, text: string, limit: number): AnsweredPage {
  const client = useControl();
  const enabled = page !== undefined && (text !== "" || (page.matching > page.clients.length && limit > page.clients.length));
  const answer = useAnswer({
    key: ["mqtt", "clients", text, limit],
    ask: async () => ({ text, page: await client.action(mqttActions, "mqtt", "client.list", { text, limit }) }),
    enabled,
    version: secondOf(page),
  });
  const { value, isReading, again } = answer;
  const failure = enabled ? answer.failure : undefined;
  if (ended) return { value: withText(ended, text), failure: undefined, isReading: false, again };
  // Until there is an answer, what is shown stays; those of the view are right without a filter only.
  const known = failure && text !== "" ? undefined : page;
  return { value: enabled && value?.text === text ? value.page : known, failure, isReading, again };
}

/** The selected client, also if it is not in the list; null if it has no session here. */
function useChosenClient(chosenId: string | undefined, shown: MqttClientPage, isGone: boolean): MqttClient | null | undefined {
  const client = useControl();
  const known = shown.clients.find(({ clientId }) => clientId === chosenId);
  const { value } = useAnswer({
    key: ["mqtt", "client", chosenId],
    ask: () => client.action(mqttActions, "mqtt", "client.read", { clientId: chosenId ?? "" }),
    enabled: !isGone && known === undefined && chosenId !== undefined,
    version: secondOf(shown),
    keepsPrevious: false,
  });
  return chosenId === undefined ? undefined : (known ?? value);
}
