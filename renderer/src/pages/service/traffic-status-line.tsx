import { UnstyledButton } from "@mantine/core";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import type { RateSample } from "../../../../contract/traffic/row.ts";
import { FollowMark } from "../../list/follow-mark.tsx";
import styles from "../../list/list-page.module.css";
import { isFiltering } from "../../list/traffic-filter.ts";
import type { TrafficRowsView } from "../../list/traffic-rows.ts";
import { formatCount, formatRate } from "../../ui/quantity.ts";
import { clockMinutes, clockTime, isoTime } from "../../ui/time.ts";
import { useSampleTraffic } from "../../ui/use-sample-traffic.ts";

interface TrafficStatusLineProps {
  readonly id: ServiceId;
  readonly view: TrafficRowsView;
  readonly rate: RateSample | undefined;
  readonly service: ServiceView | undefined;
  readonly onFollow: () => void;
}

/** One sentence in a fixed place: what is followed, how fast, how much of it is shown, and what is not. */
export function TrafficStatusLine({ id, view, rate, service, onFollow }: TrafficStatusLineProps) {
  const sample = useSampleTraffic(id);
  const running = service?.status.state === "running" ? service.status : undefined;
  const whole = isFiltering(view.filter) ? view.matching : view.kept;
  return (
    <div className={styles.statusLine}>
      <span className={styles.facts}>
        <FollowState view={view} lost={rate?.dropped ?? 0} onFollow={onFollow} />
        <LeftOut view={view} rate={rate} />
        {running && <span className={styles.fact}>{`${formatRate(rate?.itemsPerSecond ?? 0)} ${rate?.unit ?? "req/s"}`}</span>}
        <span className={styles.fact}>
          {`showing ${formatCount(view.rows.length)} of ${formatCount(Math.max(whole, view.rows.length))}`}
          {isFiltering(view.filter) && " that match"}
        </span>
        {running && sample.playing && (
          <span>
            <UnstyledButton className={styles.link} onClick={sample.toggle}>
              Stop sample traffic
            </UnstyledButton>
          </span>
        )}
      </span>
      <span className={styles.since} title={rate?.note}>
        {running && <span title={isoTime(running.since)}>{`since ${clockMinutes(running.since)}`}</span>}
        {rate?.note && running && ` · ${rate.note}`}
      </span>
    </div>
  );
}

function FollowState({ view, lost, onFollow }: Pick<TrafficStatusLineProps, "view" | "onFollow"> & { readonly lost: number }) {
  const scrolled = view.mode === "scrolled";
  const kept = view.arrived <= view.kept && lost === 0 ? ", all kept" : "";
  return (
    <FollowMark
      mode={scrolled ? "held" : view.mode}
      arrived={view.mode === "paused" ? `${formatCount(view.arrived)} arrived since${kept}` : undefined}
      title={scrolled ? `Held at ${clockTime(view.rows.at(-1)?.at ?? 0)}` : undefined}
      onFollow={onFollow}
    />
  );
}

function LeftOut({ view, rate }: Pick<TrafficStatusLineProps, "view" | "rate">) {
  const lost = rate?.dropped ?? 0;
  const leftOut = lost + view.skipped;
  if (leftOut === 0) return null;
  const skipped = `${formatCount(view.skipped)} arrived too fast for this list. They are kept, and shown when the load falls.`;
  const unrecorded = `${formatCount(lost)} were served and counted, but not recorded.`;
  return (
    <span className={styles.leftOut} title={[view.skipped > 0 && skipped, lost > 0 && unrecorded].filter(Boolean).join(" ")}>
      {`${formatCount(leftOut)} left out under load`}
    </span>
  );
}
