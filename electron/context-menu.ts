import type { ContextMenuParams, MenuItemConstructorOptions, WebContents } from "electron";

/** Cut, copy and paste, where they apply: Electron has no context menu of its own. */
export function addContextMenu(contents: WebContents, popUp: (items: MenuItemConstructorOptions[]) => void): void {
  contents.on("context-menu", (_event, params) => {
    const items = contextMenu(params);
    if (items.length > 0) popUp(items);
  });
}

export function contextMenu({
  isEditable,
  selectionText,
  editFlags,
}: Pick<ContextMenuParams, "isEditable" | "selectionText" | "editFlags">) {
  if (isEditable) {
    return [
      { role: "cut", enabled: editFlags.canCut },
      { role: "copy", enabled: editFlags.canCopy },
      { role: "paste", enabled: editFlags.canPaste },
      { type: "separator" },
      { role: "selectAll", enabled: editFlags.canSelectAll },
    ] satisfies MenuItemConstructorOptions[];
  }
  return selectionText.trim() === "" ? [] : ([{ role: "copy" }] satisfies MenuItemConstructorOptions[]);
}
