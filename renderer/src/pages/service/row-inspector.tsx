import { servicePages } from "../../services/registry.ts";
import { RowDetails, type RowDetailsProps } from "./row-details.tsx";

/** One row of any service in full, in the column beside the list. */
export const RowInspector = (props: Omit<RowDetailsProps, "inspectors">) => (
  <RowDetails {...props} inspectors={servicePages.get(props.service)?.inspectors} />
);
