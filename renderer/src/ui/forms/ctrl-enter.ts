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
