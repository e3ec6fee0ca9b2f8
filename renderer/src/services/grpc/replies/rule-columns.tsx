import { Switch } from "@mantine/core";
import { grpcActions } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CellText } from "../../../list/cells/cell-text.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import styles from "./replies.module.css";
import type { RuleRow } from "./rule-rows.ts";

const none = <CellText tone="quiet">–</CellText>;
const count = (value: number) => (value === 0 ? none : formatCount(value));

export const ruleColumns: readonly Column<RuleRow>[] = [
  { id: "place", title: "#", align: "end", minSample: "000", rank: 1, cell: ({ place }) => <CellText tone="quiet">{place}</CellText> },
  { id: "enabled", title: "On", minSample: "On", besidePx: 20, rank: 0, cell: (row) => <RuleSwitch rule={row} /> },
  {
    id: "rule",
    title: "Rule",
    minSample: "Greeter/BidirectionalStr",
    preferredSample: "a rule's name Greeter/BidirectionalStream",
    face: "mono",
    rank: 0,
    cell: ({ name, method, problem }) => (
      <span className={styles.method} title={shownText([name, method, problem?.message].filter(Boolean).join("\n"))}>
        {problem && <StatusShape shape="failed" />}
        {name !== "" && <span>{shownText(name)}</span>}
        <code data-soft={name !== "" || undefined}>{shownText(method.slice(method.lastIndexOf(".") + 1))}</code>
      </span>
    ),
  },
  {
    id: "when",
    title: "When",
    minSample: "name = Ada Lovelace",
    preferredSample: "request.name = Ada, metadata x-tenant is there",
    face: "mono",
    rank: 2,
    cell: ({ when }) =>
      when === "" ? (
        <CellText tone="quiet">always</CellText>
      ) : (
        <CellText tone="soft" mono title={shownText(when)}>
          {shownText(when)}
        </CellText>
      ),
  },
  {
    id: "answer",
    title: "Answer",
    rank: 0,
    cell: ({ answer, problem }) =>
      problem ? (
        <span className={styles.problem} title={`Line ${problem.line} of the file: ${shownText(problem.message)}`}>
          {`Not used: ${shownText(problem.message.replace(/^rules\[\d+\]\.?/, ""))}`}
        </span>
      ) : (
        <code title={shownText(answer)}>{shownText(answer)}</code>
      ),
  },
  { id: "matched", title: "Matched", align: "end", minSample: "Matched", rank: 3, cell: ({ matched }) => count(matched) },
  { id: "answered", title: "Answered", align: "end", minSample: "Answered", rank: 1, cell: ({ answered }) => count(answered) },
];

/** Enables or disables a rule. */
function RuleSwitch({ rule: { key, name, method, enabled } }: { readonly rule: RuleRow }) {
  const client = useControl();
  const change = () => void attempt(client.action(grpcActions, "grpc", "reply.enable", { key, enabled: !enabled }));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the row below it is not chosen, and its keys are the switch's.
    <span className={styles.switch} onMouseDown={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()}>
      <Switch checked={enabled} aria-label={`${name || method} answers`} onChange={change} />
    </span>
  );
}
