import type { ComponentType, ReactNode } from "react";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import type { Inspectors } from "../../inspectors/inspector-frame.tsx";
import type { RowCommands } from "../../inspectors/kind-commands.ts";
import type { Column } from "../../list/columns/column.ts";
import type { FilterTerms } from "../../list/filter/filter-terms.ts";
import type { TrafficFilter } from "../../list/filter/traffic-filter.ts";
import type { PageCommand } from "../../ui/commands.ts";
import type { Noun } from "../../ui/texts/quantity.ts";
import type { ServiceColor } from "../../ui/theme.ts";

export interface FilterScope {
  readonly value: TrafficFilter["tone"];
  readonly label: string;
}

/** Texts of an empty page: how to send something, and what will appear. */
export interface EmptyText {
  /** "No calls yet." */
  readonly nothing: string;
  /** Completes "Point ". */
  readonly point: (origin: string) => ReactNode;
  /** Completes "Watch ". */
  readonly watch: string;
  readonly appears: readonly (readonly [name: string, what: string])[];
  /** A command that makes the first row. */
  readonly command: (origin: string) => string;
  /** Buttons before the one that sends sample traffic, while the service runs. */
  readonly Ways?: ComponentType;
}

export interface TrafficPicksProps {
  readonly filter: TrafficFilter;
  readonly onFilter: (filter: TrafficFilter) => void;
}

/** A live list of traffic, with toolbar, filter, pause, follow, choice of columns, copy, resend, export, clearing and the inspector. */
export interface TrafficTab {
  readonly kind: "traffic";
  readonly item: Noun;
  readonly columns: readonly Column<TrafficRow>[];
  readonly scopes: readonly FilterScope[];
  /** Further filters, beside the scopes. */
  readonly Picks?: ComponentType<TrafficPicksProps>;
  /** Says what the text filter searches. */
  readonly filterPlaceholder: string;
  /** Those of the filter that its rows have. */
  readonly filterTerms: FilterTerms;
  /** What the filter can search in addition: "headers and bodies". */
  readonly details?: string;
  readonly empty: EmptyText;
  /** Above the toolbar. */
  readonly Above?: ComponentType;
  /** Below the status line. */
  readonly Below?: ComponentType<{ readonly service: ServiceView | undefined }>;
}

export interface ContentTab {
  readonly kind: "content";
  readonly Content: ComponentType;
}

export type ServiceTab = (TrafficTab | ContentTab) & {
  /** Part of the address: `#/http/live`. */
  readonly name: string;
  readonly title: string;
  /** Those of its commands that the palette finds from every page, while the service runs. */
  readonly commands?: readonly PageCommand[];
};

export interface ServicePageDefinition {
  readonly id: ServiceId;
  /** Colour of its lines in plots and its mark in the Timeline; no other service has it. */
  readonly color: ServiceColor;
  /** The first one opens. Config and Logs follow on every page. */
  readonly tabs: readonly ServiceTab[];
  /** The widest verb and outcome of its rows, for the Timeline. */
  readonly minSample: { readonly verb: string; readonly outcome: string };
  /** One for each kind of detail that its service records. */
  readonly inspectors: Inspectors;
  /** What can be done with its rows, by the same kinds. */
  readonly rowCommands: RowCommands;
  /** Text of the badge in the heading while the service is open to the LAN, if it differs from the usual one. */
  readonly LanText?: ComponentType;
}

export const trafficTab = (tab: Omit<TrafficTab, "kind"> & Pick<ServiceTab, "commands">): ServiceTab => ({
  kind: "traffic",
  name: "live",
  title: "Live",
  ...tab,
});
export const contentTab = (name: string, title: string, Content: ComponentType, commands: readonly PageCommand[] = []): ServiceTab => ({
  kind: "content",
  name,
  title,
  Content,
  commands,
});
export const liveTab = (Content: ComponentType, commands?: readonly PageCommand[]): ServiceTab =>
  contentTab("live", "Live", Content, commands);
export const tryTab = (Content: ComponentType, commands?: readonly PageCommand[]): ServiceTab =>
  contentTab("try", "Try", Content, commands);

/** A service's page as data; `services/registry.ts` lists it. */
export const defineServicePage = (definition: ServicePageDefinition): ServicePageDefinition => definition;
