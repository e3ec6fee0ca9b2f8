import type { MqttEvent } from "../../../../../contract/traffic/mqtt.ts";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/tone-mark.tsx";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { Pair, Pairs } from "../../../ui/panel.tsx";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";

/** A connection, a refusal or a subscription: who, when, and what the broker says about it. */
export function MqttEventInspector({ detail, live, onClose }: InspectorProps<MqttEvent>) {
  const { clientId, at, text } = detail;
  const title = live?.verb ?? "MQTT";
  return (
    <InspectorFrame
      title={
        <>
          <b>{title}</b> {live?.target ?? clientId}
        </>
      }
      hint={live?.target ?? clientId}
      mono
      mark={live && <ToneMark tone={live.tone} word={live.outcome} />}
      onClose={onClose}
    >
      <InspectorPanel label={title}>
        <Section title="Event" actions={<CopyButton text={text} what="the text" />}>
          <Pairs>
            <Pair name="Time" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            <Pair name="Client" mono>
              {clientId || "none"}
            </Pair>
            {live && live.peer !== "" && (
              <Pair name="Address" mono>
                {live.peer}
              </Pair>
            )}
            {live && live.client !== "" && <Pair name="Software">{live.client}</Pair>}
            {live?.reason !== undefined && <Pair name="Reason">{live.reason}</Pair>}
            {text !== "" && <Pair name="Text">{text}</Pair>}
          </Pairs>
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
