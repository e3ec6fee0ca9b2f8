import { IconRoute, IconRouteOff } from "@tabler/icons-react";
import { useCommands } from "../../ui/commands.ts";
import { IconButton } from "../../ui/toolbar.tsx";

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
