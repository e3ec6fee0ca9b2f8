import { createElement } from "react";
import type { DetailKind } from "../../../contract/traffic/detail.ts";
import type { InspectorProps, Inspectors } from "./inspector-frame.tsx";

interface KindInspectorProps<Kind extends DetailKind> extends InspectorProps<Kind> {
  readonly inspectors: Inspectors;
  readonly kind: Kind;
}

/** The inspector of a detail's kind. `createElement`, since JSX has no type for a component of any kind. */
export function KindInspector<Kind extends DetailKind>({ inspectors, kind, ...props }: KindInspectorProps<Kind>) {
  const Inspector = inspectors[kind];
  return Inspector && createElement<InspectorProps<Kind>>(Inspector, props);
}
