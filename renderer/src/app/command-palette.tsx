import { createSpotlight, Spotlight, type SpotlightActionGroupData, useSpotlight } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { type MouseEvent, useEffect, useLayoutEffect, useRef } from "react";
import styles from "./command-palette.module.css";
import { filterPalette } from "./palette-filter.ts";
import { configurationGroup, elsewhereGroup, usePaletteActions } from "./use-palette-actions.tsx";

/** `palette.open()` from anywhere in the frame. */
const [store, palette] = createSpotlight();

export { palette };

const classNames = {
  content: styles.content ?? "",
  search: styles.search ?? "",
  action: styles.action ?? "",
  actionDescription: styles.description ?? "",
  actionsGroup: styles.group ?? "",
  actionsList: styles.list ?? "",
  empty: styles.empty ?? "",
};

/** Ctrl or ⌘ K: services, actions, settings and pages by name. */
export function CommandPalette() {
  const { opened } = useSpotlight(store);
  const before = useRef<Element>(null);
  useLayoutEffect(() => {
    if (opened) before.current = document.activeElement;
  }, [opened]);
  const field = useRef<HTMLInputElement>(null);
  // At once: a dialog moves the focus with a timer, and letters that are typed before that would go to the page. Behind the dialog's own
  // effects, which note what has the focus now.
  useEffect(() => {
    if (opened) field.current?.focus();
  }, [opened]);
  const actions = usePaletteActions(opened).map((group) => ({
    ...group,
    actions: group.actions.map((action) => ({
      ...action,
      onClick: (event: MouseEvent<HTMLButtonElement>) => {
        // A dialog gives the focus back to what had it when it opened: the palette is gone then.
        if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true });
        action.onClick?.(event);
      },
    })),
  }));
  return (
    <Spotlight
      store={store}
      actions={actions}
      filter={(query, groups) => filterPalette(query, groups as SpotlightActionGroupData[], [elsewhereGroup, configurationGroup])}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.45 }}
      maxHeight={420}
      size={560}
      yOffset="12vh"
      // As all dialogs (theme.ts). What was typed is forgotten at the end of a transition: who opens it again before would type behind that.
      transitionProps={{ duration: 0 }}
      scrollAreaProps={{ type: "auto", scrollbarSize: 8 }}
      nothingFound="No matches. Try a service, “start”, “stop”, “copy” or a setting."
      searchProps={{
        ref: field,
        leftSection: <IconSearch size={16} stroke={1.5} />,
        placeholder: "Search services, actions, settings",
        "aria-label": "Search services, actions, settings",
      }}
      attributes={{ content: { "aria-label": "Command palette" } }}
      classNames={classNames}
    />
  );
}
