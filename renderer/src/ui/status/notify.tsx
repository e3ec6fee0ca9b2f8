import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect } from "react";
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

/** The pages, as in the address, on which notifications were shown that go with them. */
const pages = new Map<string, string>();

/** Shows a notification until its time is over, which waits while the pointer is on it, or until its page is left. */
function showOnPage(note: Parameters<typeof notifications.show>[0]): string {
  const id: string = notifications.show({ ...note, onClose: () => void pages.delete(id) });
  pages.set(id, location.hash);
  return id;
}

/** Closes what was said on a page when that is left: the next one shows other things. What offers an Undo stays for its time. */
export function useNotesOfPage(): void {
  useEffect(() => {
    const leave = () => {
      for (const [id, page] of [...pages]) if (page !== location.hash) notifications.hide(id);
    };
    addEventListener("hashchange", leave);
    return () => removeEventListener("hashchange", leave);
  }, []);
}

/** Shows what went wrong and what to do about it. */
export function notifyFailure(error: unknown): void {
  const failure = failureOf(error);
  showOnPage({
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
  const id: string = (undo ? notifications.show : showOnPage)({
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
