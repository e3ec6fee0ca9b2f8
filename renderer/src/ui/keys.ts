import type { KeyboardEvent } from "react";

/** Sends from any field of a form, also from one of several lines. */
export const onCtrlEnter = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  send();
};

export const submitOnCtrlEnter = (event: KeyboardEvent<HTMLFormElement>): void => {
  const { currentTarget: form } = event;
  onCtrlEnter(() => form.requestSubmit())(event);
};

/**
 * Escape, pressed in an element where nothing takes it. React passes on the keys of a dialog to what has opened it, though it is elsewhere in the
 * document: such a key closes the dialog alone.
 */
export const onEscape = (close: () => void) => (event: KeyboardEvent) => {
  if (event.key === "Escape" && !event.defaultPrevented && event.currentTarget.contains(event.target as Node)) close();
};
