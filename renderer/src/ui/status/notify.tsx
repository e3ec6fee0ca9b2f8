import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { failureOf } from "../../control/failure-error.ts";
import { shownText } from "../texts/shown-text.ts";
import styles from "./notify.module.css";
import { StatusShape } from "./status-shape.tsx";

/** The appearance of notifications. */
export const noteClassNames = {
  root: styles.root ?? "",
  title: styles.title ?? "",
  description: styles.description ?? "",
  icon: styles.icon ?? "",
};

/** Shows what went wrong and what to do about it. */
export function notifyFailure(error: unknown): void {
  const failure = failureOf(error);
  notifications.show({
    title: shownText(failure.message),
    message: shownText(failure.hint),
    icon: <StatusShape shape="failed" />,
    autoClose: 10_000,
    classNames: noteClassNames,
    closeButtonProps: { "aria-label": "Dismiss" },
  });
}

/** Reports what was done, optionally with an Undo; the returned function removes the notification. */
export function notifyDone(text: string, undo?: { readonly title: string; run(): void }): () => void {
  const id = notifications.show({
    message: (
      <span className={styles.done}>
        {shownText(text)}
        {undo && (
          <Button
            size="compact-xs"
            onClick={() => {
              notifications.hide(id);
              undo.run();
            }}
          >
            {undo.title}
          </Button>
        )}
      </span>
    ),
    withBorder: false,
    autoClose: undo ? 10_000 : 4_000,
    classNames: noteClassNames,
    closeButtonProps: { "aria-label": "Dismiss" },
  });
  return () => notifications.hide(id);
}

/** For the promise of a click: its failure is shown. Resolves with true if it succeeded. */
export const attempt = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      notifyFailure(error);
      return false;
    },
  );
