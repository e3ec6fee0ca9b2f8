import { SegmentedControl, UnstyledButton } from "@mantine/core";
import { z } from "zod";
import type { OutcomePlot } from "../../../../../contract/services/events.ts";
import { SectionTitle } from "../../../ui/panel.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { ShownFilter } from "../event-filter.ts";
import { nothingCounted } from "./nothing-counted.ts";
import { shareText } from "./outcome-bars.ts";
import styles from "./plots-band.module.css";

interface AcceptancePanelProps {
  /** Without the filter's language and provider, so that the chosen one is among the others. */
  readonly plot: OutcomePlot;
  readonly filter: ShownFilter;
  readonly onFilter: (filter: ShownFilter) => void;
  /** Shown where there is room for one panel. */
  readonly chosen: boolean;
}

type By = "language" | "provider";
const chosenBy = ["text", "device"] as const;

/** How often completions were accepted, by group and in total; a row filters by its name. */
export function AcceptancePanel({ plot, filter, onFilter, chosen }: AcceptancePanelProps) {
  const [by, setBy] = useRemembered<By>("events.acceptance-by", "language", z.enum(["language", "provider"]));
  const rows = (by === "language" ? plot.byLanguage : plot.byProvider) ?? [];
  const { total, accepted } = plot;
  const overall = total === 0 ? 0 : (accepted / total) * 100;
  return (
    <section className={styles.acceptance} aria-label={`Acceptance by ${by}`} data-chosen={chosen}>
      <div className={styles.head}>
        <SectionTitle className={styles.title}>Acceptance</SectionTitle>
        <SegmentedControl
          className={styles.by}
          aria-label="Acceptance by"
          data={[
            { value: "language", label: "Language" },
            { value: "provider", label: "Provider" },
          ]}
          value={by}
          onChange={(value) => setBy(value as By)}
        />
        <span className={styles.overall}>
          <span className={styles.tick} aria-hidden="true" />
          all <b>{shareText(accepted, total)}</b>
        </span>
      </div>
      {rows.length === 0 ? (
        <p className={styles.nothing}>{nothingCounted(filter, chosenBy, plot)}</p>
      ) : (
        <ul className={styles.bars}>
          {rows.map((row) => {
            const share = row.total === 0 ? 0 : (row.accepted / row.total) * 100;
            const isSet = filter[by] === row.name && row.name !== "";
            return (
              <li key={`${row.isRest ?? false} ${row.name}`}>
                <UnstyledButton
                  className={styles.bar}
                  disabled={row.name === ""}
                  aria-pressed={isSet}
                  title={`${formatCount(row.accepted)} of ${formatCount(row.total)} accepted · ${isSet ? "show all" : "show only these"}`}
                  onClick={() => onFilter({ ...filter, [by]: isSet ? "" : row.name })}
                >
                  <span className={styles.name}>{row.isRest ? "(others)" : shownText(row.name) || "(none)"}</span>
                  <span className={styles.track}>
                    <span className={styles.fill} style={{ width: `${share}%` }} />
                    <span className={styles.mark} style={{ left: `${overall}%` }} />
                  </span>
                  <span className={styles.share}>{shareText(row.accepted, row.total)}</span>
                  <span className={styles.total}>{formatCount(row.total)}</span>
                </UnstyledButton>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
