import { IconChartLine, IconPlusMinus, IconSearch, IconSitemap, IconTerminal2 } from "@tabler/icons-react";
import { useState } from "react";
import type { ServiceView } from "../../../../../contract/service.ts";
import { SampleToggle } from "../../../list/filter/sample-toggle.tsx";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { copyText } from "../../../ui/copy/copy-text.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { Caption, Chip, PanelHead, Spring } from "../../../ui/panel.tsx";
import { attempt, notifyDone } from "../../../ui/status/notify.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { IconButton, ToggleButton } from "../../../ui/toolbar.tsx";
import type { ContentFormat, FormatChoice } from "../../../viewer/content-format.ts";
import { FormatMenu } from "../../../viewer/format-menu.tsx";
import { brokerAddress } from "../broker/broker-address.ts";
import { useAnonymous } from "../broker/use-broker.ts";
import { TopicName } from "../tree/topic-name.tsx";
import { hasWildcard, scopeFilter, type TopicScope } from "../tree/topic-scope.ts";
import { mosquittoSubOf } from "../try/mqtt-commands.ts";
import styles from "./history-panel.module.css";

/** Formats that apply without HTTP headers. */
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
  readonly withoutSample: boolean;
  readonly onWithoutSample: (without: boolean) => void;
  /** Messages that arrived while the user points at one. */
  readonly waiting: number;
  readonly service: ServiceView | undefined;
}

export function HistoryHead(props: HistoryHeadProps) {
  const { scope, onScope, isRetained, isBranch, text, onText, waiting, service } = props;
  const [searching, setSearching] = useState(text !== "");
  const filter = scopeFilter(scope);
  const anonymous = useAnonymous();
  const copyCommand = () =>
    attempt(
      copyText(mosquittoSubOf(filter, 1, brokerAddress(service), anonymous)).then(() => notifyDone("Copied the mosquitto_sub command.")),
    );
  return (
    <PanelHead className={styles.head}>
      {filter !== "" && (
        <>
          <h2 className={styles.topic} title={shownText(filter)}>
            <TopicName topic={filter} hasLeaf />
          </h2>
          <CopyButton text={filter} what="the topic" />
          <IconButton label="Copy the mosquitto_sub command" icon={IconTerminal2} onClick={() => void copyCommand()} />
          {isRetained && !scope.below && <Chip className={styles.retainedChip}>retained</Chip>}
          {isBranch && !hasWildcard(scope.topic) && (
            <IconButton
              label="With all topics below"
              icon={IconSitemap}
              pressed={scope.below}
              onClick={() => onScope({ ...scope, below: !scope.below })}
            />
          )}
        </>
      )}
      <Spring />
      {waiting > 0 && (
        <Caption title="They are shown when the pointer rests or leaves the list.">{`${formatCount(waiting)} waiting`}</Caption>
      )}
      {searching ? (
        <FilterInput width={150} slash={false} focused={text === ""} placeholder="Filter payloads" value={text} onChange={onText} />
      ) : (
        <IconButton label="Filter payloads" icon={IconSearch} onClick={() => setSearching(true)} />
      )}
      <SampleToggle without={props.withoutSample} onWithout={props.onWithoutSample} />
      <FormatMenu label="Show payloads as" value={props.payloadView} onChange={props.onPayloadView} formats={payloadFormats} />
      <ToggleButton label="Plot" icon={IconChartLine} on={props.showsPlot} onClick={props.onPlot} />
      <ToggleButton label="Diff" icon={IconPlusMinus} on={props.showsDiff} onClick={props.onDiff} />
    </PanelHead>
  );
}
