import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { InspectorFrame, InspectorPanel, type InspectorProps } from "../../inspectors/inspector-frame.tsx";
import { Section } from "../../inspectors/section.tsx";
import { rowMark, ToneMark } from "../../list/tone-mark.tsx";
import { Pair, Pairs } from "../../ui/panel.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";

/** A request of STUN or TURN with its answer. */
export function TurnRequestInspector({ row, detail, onRow, onClose }: InspectorProps<"turn-request">) {
  const { parent, method, transport, remote, code, why, username, software, at } = detail;
  return (
    <InspectorFrame
      title={<b>{method}</b>}
      hint={method}
      mono
      mark={<ToneMark tone={rowMark(row)} word={row.outcome} title={why ?? row.outcome} />}
      onClose={onClose}
    >
      <InspectorPanel label="Request">
        <Section
          title="Request"
          actions={
            parent !== undefined && (
              <Button size="compact-xs" rightSection={<IconArrowUpRight size={13} stroke={1.5} />} onClick={() => onRow(parent)}>
                Show the relay
              </Button>
            )
          }
        >
          <Pairs>
            <Pair name="Answer">{code === 0 ? "success" : `error ${code}`}</Pair>
            {why !== undefined && <Pair name="Reason">{why}</Pair>}
            <Pair name="Over">{transport.toUpperCase()}</Pair>
            <Pair name="Client" mono>
              {remote}
            </Pair>
            {username !== undefined && (
              <Pair name="User name" mono>
                {shownText(username)}
              </Pair>
            )}
            {software !== undefined && <Pair name="Software">{shownText(software)}</Pair>}
            <Pair name="Time" mono title={isoTime(at)}>
              {clockTime(at)}
            </Pair>
          </Pairs>
        </Section>
      </InspectorPanel>
    </InspectorFrame>
  );
}
