import { IconRoute, IconRouteOff } from "@tabler/icons-react";
import { isSampleClient, withoutSampleMark } from "../../../contract/sample-traffic.ts";
import { useCommands } from "../ui/commands.ts";
import { shownText } from "../ui/texts/shown-text.ts";
import { IconButton } from "../ui/toolbar.tsx";
import styles from "./sample-mark.module.css";

/** What Backlot sent itself, so that a new user sees traffic. */
export const SampleMark = () => (
  <span className={styles.mark} title="Sample traffic of Backlot">
    sample
  </span>
);

/** The software of a row's client, with the mark if it is Backlot itself. */
export const ClientName = ({ client }: { readonly client: string }) =>
  isSampleClient(client) && withoutSampleMark(client) !== client ? (
    <>
      {shownText(withoutSampleMark(client))} <SampleMark />
    </>
  ) : (
    shownText(client)
  );

interface SampleToggleProps {
  /** Sample traffic is left out. */
  readonly without: boolean;
  readonly onWithout: (without: boolean) => void;
}

/** In a list's toolbar: whether sample traffic is in the list. */
export function SampleToggle({ without, onWithout }: SampleToggleProps) {
  const toggle = () => onWithout(!without);
  useCommands([
    {
      id: "filter-sample",
      title: without ? "Show sample traffic in the list" : "Hide sample traffic from the list",
      keywords: "filter without sample",
      run: toggle,
    },
  ]);
  return <IconButton label="Without sample traffic" icon={without ? IconRouteOff : IconRoute} pressed={without} onClick={toggle} />;
}
