import { IconFileSearch } from "@tabler/icons-react";
import { useCommands } from "../../ui/commands.ts";
import { IconButton } from "../../ui/toolbar.tsx";
import type { TrafficFilter } from "./traffic-filter.ts";

interface DetailToggleProps {
  /** What rows have recorded beside their own texts: "headers and bodies". */
  readonly details: string;
  readonly filter: TrafficFilter;
  readonly onFilter: (filter: TrafficFilter) => void;
}

/** In a filter of traffic: whether details are searched too. */
export function DetailToggle({ details, filter, onFilter }: DetailToggleProps) {
  const { inDetails } = filter;
  const toggle = () => onFilter({ ...filter, inDetails: !inDetails });
  const label = `Search ${details} too`;
  useCommands([{ id: "filter-details", title: inDetails ? `Do not search ${details}` : label, keywords: "filter find", run: toggle }]);
  return <IconButton label={label} icon={IconFileSearch} pressed={inDetails} onClick={toggle} />;
}
