import { ActionIcon } from "@mantine/core";
import { IconRestore } from "@tabler/icons-react";
import { type EventsViews, eventsActions, type LimitGauge } from "../../../../../contract/services/events.ts";
import { useControl } from "../../../control/client-context.tsx";
import { SectionTitle } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { Tooltip } from "../../../ui/tooltip.tsx";
import styles from "./plots-band.module.css";

const segments = 20;
/** From this share on it is shown as near its limit. */
const nearShare = 0.8;

interface LimitsPanelProps {
  readonly limits: EventsViews["limits"] | undefined;
  readonly running: boolean;
  /** Shown where there is room for one panel. */
  readonly chosen: boolean;
}

/** How much of its window the busiest client of each limit has used, and how many requests were refused. */
export function LimitsPanel({ limits, running, chosen }: LimitsPanelProps) {
  const client = useControl();
  const gauges = limits?.on ? limits.gauges : [];
  return (
    <section className={styles.limits} aria-label="Rate limits" data-chosen={chosen}>
      <div className={styles.head}>
        <SectionTitle className={styles.title}>Rate limits</SectionTitle>
        <span className={styles.caption}>{gauges.length > 0 && `busiest client${limits?.shared ? " · shared" : ""}`}</span>
        {gauges.length > 0 && (
          <Tooltip label="Reset all request counts">
            <ActionIcon
              aria-label="Reset all request counts"
              onClick={() => void attempt(client.action(eventsActions, "events", "limits.reset"))}
            >
              <IconRestore size={14} stroke={1.5} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      {gauges.length === 0 ? (
        <p className={styles.nothing}>
          {!running
            ? "Available while the service runs."
            : limits?.on === false
              ? "Off: every request is accepted. Turn them on in Config."
              : "Waiting for the first values."}
        </p>
      ) : (
        gauges.map((gauge) => <Gauge key={gauge.name} gauge={gauge} />)
      )}
    </section>
  );
}

function Gauge({ gauge: { name, requests, windowSeconds, clients, refused, busiest } }: { readonly gauge: LimitGauge }) {
  const used = Math.min(busiest?.used ?? 0, requests);
  const isNear = used >= nearShare * requests;
  const lit = used === 0 ? 0 : Math.max(1, Math.round((used / requests) * segments));
  const window = windowSeconds % 60 === 0 ? `${windowSeconds / 60} min` : `${windowSeconds} s`;
  return (
    <div className={styles.gauge}>
      <div className={styles.gaugeHead}>
        <code>{name}</code>
        <span className={styles.used}>
          <b>{formatCount(used)}</b> of {formatCount(requests)} in {window}
        </span>
      </div>
      <div
        className={styles.meter}
        role="img"
        aria-label={`${name}: the busiest client used ${formatCount(used)} of ${formatCount(requests)}`}
        data-near={isNear}
      >
        {Array.from({ length: segments }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a segment is its place.
          <span key={index} data-lit={index < lit} />
        ))}
      </div>
      <p className={refused > 0 ? styles.refused : styles.client} title={`${formatCount(clients)} counted in this window`}>
        {refused > 0 && <StatusShape shape="warning" />}
        {[busiest?.client ?? "no client", refused > 0 && `${formatCount(refused)} refused with 429`].filter(Boolean).join(" · ")}
      </p>
    </div>
  );
}
