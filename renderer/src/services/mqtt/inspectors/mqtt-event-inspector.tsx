import { credentialFields, notRecorded } from "../../../../../contract/traffic/mqtt.ts";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../../inspectors/inspector-frame.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { useReveal } from "../../../ui/forms/secret-text.tsx";
import { Pair, Pairs } from "../../../ui/panel.tsx";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";

/** A connection, refusal or subscription: client, time, the broker's log text, and the fields of the packet. */
export function MqttEventInspector({ row, detail, onClose }: InspectorProps<"mqtt-event">) {
  const { clientId, at, text, fields = [] } = detail;
  return (
    <InspectorFrame
      title={
        <>
          <b>{row.verb}</b> {shownText(row.target)}
        </>
      }
      hint={row.target}
      mono
      mark={<ToneMark tone={row.tone} word={row.outcome} />}
      onClose={onClose}
    >
      <InspectorPanel label={row.verb}>
        <Section title="Event" actions={<CopyButton text={text} what="the text" />}>
          <Pairs>
            <Pair name="Time" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
            <Pair name="Client" mono>
              {clientId || "none"}
            </Pair>
            {row.peer !== "" && (
              <Pair name="Address" mono>
                {row.peer}
              </Pair>
            )}
            {row.reason !== undefined && <Pair name="Reason">{row.reason}</Pair>}
            {text !== "" && <Pair name="Text">{text}</Pair>}
          </Pairs>
        </Section>
        {fields.length > 0 && (
          <Section title="Packet" actions={<CopyButton text={fields.map((field) => field.join(": ")).join("\n")} what="the fields" />}>
            <Pairs>
              {fields.map(([name, value], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they never change, and a name may repeat.
                <Pair key={index} name={shownText(name)} mono>
                  {credentialFields.includes(name) && !value.endsWith(notRecorded) ? (
                    <Credential name={name.toLowerCase()} value={value} />
                  ) : (
                    shownText(value)
                  )}
                </Pair>
              ))}
            </Pairs>
          </Section>
        )}
      </InspectorPanel>
    </InspectorFrame>
  );
}

/** Masked until it is revealed; in quotes, since a space at its end may be what is wrong. */
function Credential({ name, value }: { readonly name: string; readonly value: string }) {
  const { revealed, button } = useReveal(`the ${name}`);
  return (
    <>
      {revealed ? `“${shownText(value)}”` : "••••••"} {button}
    </>
  );
}
