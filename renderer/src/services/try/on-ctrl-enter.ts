import type { KeyboardEvent } from "react";

/** Sends from any field of a form. */
export const onCtrlEnter = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  send();
};
