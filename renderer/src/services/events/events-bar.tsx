import { ActionIcon, Button, Divider, FileButton, Menu, Popover } from "@mantine/core";
import {
  IconChartBar,
  IconChevronDown,
  IconDots,
  IconDownload,
  IconHistory,
  IconPlayerPlay,
  IconPlayerStop,
  IconSparkles,
  IconTrash,
  IconUpload,
} from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import type { EventFormat, EventJob } from "../../../../contract/services/events.ts";
import { SampleToggle } from "../../list/filter/sample-toggle.tsx";
import { CommandGroups, CommandItems } from "../../ui/command-items.tsx";
import { type Command, useCommands } from "../../ui/commands.ts";
import { SectionTitle } from "../../ui/panel.tsx";
import { useSampleTraffic } from "../../ui/services/sample-traffic.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { IconButton, IconMenu, PauseButton, Toolbar } from "../../ui/toolbar.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import type { EventPagesView } from "./event-pages.ts";
import styles from "./events-bar.module.css";
import { eventsPageCommands } from "./events-page-commands.ts";
import { CountingChip, JobChip } from "./jobs/job-chip.tsx";
import { shownJob } from "./jobs/job-words.ts";
import type { Deletion } from "./jobs/use-deletion.ts";

interface EventsBarProps {
  readonly view: EventPagesView;
  readonly jobs: readonly EventJob[];
  readonly filtered: boolean;
  /** The service answers calls. */
  readonly available: boolean;
  /** The service listens, and takes sample traffic. */
  readonly running: boolean;
  /** Undefined if there is nothing to plot. */
  readonly plotsShown: boolean | undefined;
  readonly withoutSample: boolean;
  readonly onWithoutSample: (without: boolean) => void;
  readonly columnMenu: ReactNode;
  readonly onPlots: () => void;
  readonly onExport: (format: EventFormat, options?: { readonly raw: boolean }) => void;
  readonly onImport: (file: File) => void;
  readonly onGenerate: () => void;
  readonly deletion: Deletion;
  readonly onPause: () => void;
  readonly onReport: (job: EventJob) => void;
}

const noJobs: readonly EventJob[] = [];

/** Above the table: the filter, the running jobs, and the actions on the events. */
export function EventsBar(props: EventsBarProps) {
  const { view, jobs, filtered, available, running, plotsShown } = props;
  const sample = useSampleTraffic("events");
  const paused = view.mode === "paused";
  const pickFile = useRef<() => void>(null);
  const matching = `${formatCount(view.matching)}${view.exact ? "" : "+"}`;
  const all = filtered ? (view.answered ? `the ${matching} that match` : "those that match") : `all ${matching}`;
  const nothing = !available || !view.loaded || (view.answered && view.matching === 0);
  const exports: readonly Command[] = [
    { ...eventsPageCommands.csv, enabled: !nothing, run: () => props.onExport("csv") },
    {
      id: "events-csv-raw",
      title: "Export as CSV, raw (cells may be formulas)",
      enabled: !nothing,
      run: () => props.onExport("csv", { raw: true }),
    },
    { ...eventsPageCommands.jsonl, enabled: !nothing, run: () => props.onExport("jsonl") },
  ];
  const deleteSample = () => void attempt(props.deletion.startSample());
  const more: readonly (readonly Command[])[] = [
    [
      { ...eventsPageCommands.import, icon: IconUpload, enabled: available, run: () => pickFile.current?.() },
      { ...eventsPageCommands.generate, icon: IconSparkles, enabled: available, run: props.onGenerate },
      {
        id: "events-sample",
        title: sample.playing ? "Stop sample traffic" : "Send sample traffic",
        icon: sample.playing ? IconPlayerStop : IconPlayerPlay,
        enabled: running,
        run: sample.toggle,
      },
    ],
    [
      {
        id: "events-delete-sample",
        title: "Delete sample events…",
        icon: IconTrash,
        enabled: available,
        isDestructive: true,
        run: deleteSample,
      },
      {
        id: "events-delete",
        title: `Delete ${all}…`,
        icon: IconTrash,
        enabled: !nothing,
        isDestructive: true,
        run: () => void attempt(props.deletion.start()),
      },
    ],
  ];
  useCommands([...exports, ...more.flat()]);
  return (
    <Toolbar label="Events">
      <SectionTitle>Events</SectionTitle>
      <Jobs jobs={available ? jobs : noJobs} deletion={props.deletion} onReport={props.onReport} />
      {/* Not in a portal, as all menus here: they belong to the page's landmark. */}
      <Menu position="bottom-end" width={280} withinPortal={false}>
        <Menu.Target>
          <Button
            leftSection={<IconDownload size={14} stroke={1.5} />}
            rightSection={<IconChevronDown size={14} stroke={1.5} />}
            data-disabled={nothing || undefined}
            disabled={nothing}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{`Export ${all}`}</Menu.Label>
          <CommandItems commands={exports} />
        </Menu.Dropdown>
      </Menu>
      <FileButton
        onChange={(file) => file && props.onImport(file)}
        accept=".csv,.jsonl,.ndjson,.json,text/csv,application/jsonl"
        inputProps={{ "aria-label": "File to import" }}
      >
        {({ onClick }) => {
          pickFile.current = onClick;
          return null;
        }}
      </FileButton>
      <IconMenu label="More: import, samples, delete" icon={IconDots} width={248} disabled={!available}>
        <CommandGroups groups={more} />
      </IconMenu>
      <SampleToggle without={props.withoutSample} onWithout={props.onWithoutSample} />
      <IconButton label="Plots" icon={IconChartBar} pressed={plotsShown} disabled={plotsShown === undefined} onClick={props.onPlots} />
      {props.columnMenu}
      <Divider orientation="vertical" h={14} style={{ alignSelf: "center" }} />
      <PauseButton paused={paused} disabled={!running} onToggle={props.onPause} />
    </Toolbar>
  );
}

/** The first job in the bar, all of them behind a button. */
function Jobs({ jobs, deletion, onReport }: Pick<EventsBarProps, "jobs" | "deletion" | "onReport">) {
  const now = useNow(2_000);
  const first = shownJob(jobs, now);

  return (
    <div className={styles.jobs}>
      {deletion.counting ? (
        <CountingChip onCancel={deletion.drop} />
      ) : (
        first && <JobChip key={first.id} job={first} inBar onReport={onReport} />
      )}
      {jobs.length > 0 && (
        <Popover position="bottom-end" shadow="md" withinPortal={false}>
          <Popover.Target>
            <Tooltip label="Imports, deletions and samples">
              <ActionIcon aria-label="Jobs">
                <IconHistory size={15} stroke={1.5} />
              </ActionIcon>
            </Tooltip>
          </Popover.Target>
          <Popover.Dropdown className={styles.list} aria-label="Imports, deletions and samples">
            {jobs.map((job) => (
              <JobChip key={job.id} job={job} onReport={onReport} />
            ))}
          </Popover.Dropdown>
        </Popover>
      )}
    </div>
  );
}
