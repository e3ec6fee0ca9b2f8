import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconChartLine, IconPlusMinus, IconSearch, IconSitemap, IconTerminal2 } from "@tabler/icons-react";
import { useState } from "react";
import type { ServiceView } from "../../../../../contract/service.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { FilterInput } from "../../../ui/filter-input.tsx";
import { attempt, notifyDone } from "../../../ui/notify.tsx";
import type { ContentFormat, FormatChoice } from "../../../viewer/content-format.ts";
import { FormatMenu } from "../../../viewer/format-menu.tsx";
import { brokerAddress } from "../broker/broker-address.ts";
import { useAnonymous } from "../broker/use-broker.ts";
import { TopicName } from "../tree/topic-name.tsx";
import { hasWildcard, scopeFilter, type TopicScope } from "../tree/topic-scope.ts";
import { mosquittoSubOf } from "../try/mqtt-commands.ts";
import styles from "./history-panel.module.css";

/** Formats that make sense without the facts of HTTP. */
export const payloadFormats: readonly ContentFormat[] = ["json", "text", "xml", "hex", "messagepack", "cbor", "protobuf", "image"];

interface HistoryHeadProps {
  readonly scope: TopicScope;
  readonly onScope: (scope: TopicScope) => void;
  readonly isRetained: boolean;
  readonly isBranch: boolean;
  readonly payloadView: FormatChoice;
  readonly onPayloadView: (format: FormatChoice) => void;
  readonly showsPlot: boolean;
  readonly onPlot: () => void;
  readonly showsDiff: boolean;
  readonly onDiff: () => void;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly service: ServiceView | undefined;
}

export function HistoryHead(props: HistoryHeadProps) {
  const { scope, onScope, isRetained, isBranch, text, onText, service } = props;
  const [searching, setSearching] = useState(text !== "");
  const filter = scopeFilter(scope);
  const anonymous = useAnonymous();
  const copyCommand = () =>
    attempt(
      copyText(mosquittoSubOf(filter, 1, brokerAddress(service), anonymous)).then(() => notifyDone("Copied the mosquitto_sub command.")),
    );
  return (
    <div className={styles.head}>
      {filter !== "" && (
        <>
          <h2 className={styles.topic} title={filter}>
            <TopicName topic={filter} hasLeaf />
          </h2>
          <CopyButton text={filter} what="the topic" />
          <Tooltip label="Copy the mosquitto_sub command">
            <ActionIcon size={20} aria-label="Copy the mosquitto_sub command" onClick={() => void copyCommand()}>
              <IconTerminal2 size={14} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
          {isRetained && !scope.below && <span className={styles.chip}>retained</span>}
          {isBranch && !hasWildcard(scope.topic) && (
            <Tooltip label={scope.below ? "Only this topic" : "With all topics below"}>
              <ActionIcon
                size={20}
                className={styles.toggle}
                aria-label="With all topics below"
                aria-pressed={scope.below}
                onClick={() => onScope({ ...scope, below: !scope.below })}
              >
                <IconSitemap size={14} stroke={1.5} />
              </ActionIcon>
            </Tooltip>
          )}
        </>
      )}
      <span className={styles.spring} />
      {searching ? (
        <FilterInput width={150} slash={false} focused={text === ""} placeholder="Filter payloads" value={text} onChange={onText} />
      ) : (
        <Tooltip label="Filter payloads">
          <ActionIcon aria-label="Filter payloads" onClick={() => setSearching(true)}>
            <IconSearch size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      )}
      <FormatMenu label="Show payloads as" value={props.payloadView} onChange={props.onPayloadView} formats={payloadFormats} />
      <ToggleButton label="Plot" icon={IconChartLine} on={props.showsPlot} onClick={props.onPlot} />
      <ToggleButton label="Diff" icon={IconPlusMinus} on={props.showsDiff} onClick={props.onDiff} />
    </div>
  );
}

function ToggleButton({
  label,
  icon: Icon,
  on,
  onClick,
}: {
  readonly label: string;
  readonly icon: typeof IconChartLine;
  readonly on: boolean;
  readonly onClick: () => void;
}) {
  return (
    <Button
      className={styles.toggle}
      aria-label={label}
      title={label}
      aria-pressed={on}
      onClick={onClick}
      leftSection={<Icon size={14} stroke={1.5} />}
    >
      <span className={styles.word}>{label}</span>
    </Button>
  );
}
