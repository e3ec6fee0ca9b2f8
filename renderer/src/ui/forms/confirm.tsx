import { Text } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { shownText } from "../texts/shown-text.ts";
import { CoveredContext, FormDialog } from "./dialog.tsx";

interface Question {
  /** Contains the name of the object: "Remove the profile “Staging”?" */
  readonly title: string;
  /** What will be lost. */
  readonly text: string;
  /** What the button does: "Remove profile". */
  readonly action: string;
}
type Ask = (question: Question) => Promise<boolean>;
const ConfirmContext = createContext<Ask>(() => Promise.resolve(false));

/** Asks for confirmation of an action that cannot be undone; resolves with the answer. */
export const useConfirm = (): Ask => useContext(ConfirmContext);

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Question & { answer(yes: boolean): void }>();
  const [opened, setOpened] = useState(false);
  const ask = useCallback<Ask>(
    (question) =>
      new Promise((answer) => {
        setAsked({ ...question, answer });
        setOpened(true);
      }),
    [],
  );
  const settle = (yes: boolean) => {
    asked?.answer(yes);
    // The dialog that it lies over gets the same Escape, and is covered until then.
    setTimeout(() => setOpened(false));
  };
  return (
    <ConfirmContext value={ask}>
      <CoveredContext value={opened}>{children}</CoveredContext>
      <FormDialog
        opened={opened}
        onClose={() => settle(false)}
        title={asked && shownText(asked.title)}
        action={asked?.action ?? ""}
        isQuestion
        isAbove
        isDestructive
        onSubmit={() => settle(true)}
      >
        <Text c="var(--bl-text-2)" fz="md">
          {asked && shownText(asked.text)}
        </Text>
      </FormDialog>
    </ConfirmContext>
  );
}
