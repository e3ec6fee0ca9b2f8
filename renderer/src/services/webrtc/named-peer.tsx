import { CellText } from "../../list/cells/cell-text.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";

/** A peer of a row; its identifier comes last, where a text is cut. */
export function NamedPeer({ name, id }: { readonly name: string; readonly id: string }) {
  if (name === "") return <code>{shownText(id)}</code>;
  return (
    <>
      {shownText(name)} <CellText tone="quiet">{shownText(id)}</CellText>
    </>
  );
}
