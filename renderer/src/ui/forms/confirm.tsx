import { Text } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { shownText } from "../texts/shown-text.ts";
import { FormDialog } from "./dialog.tsx";

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
    setOpened(false);
  };
  return (
    <ConfirmContext value={ask}>
      {children}
      <FormDialog
        opened={opened}
        onClose={() => settle(false)}
        title={asked && shownText(asked.title)}
        action={asked?.action ?? ""}
        isQuestion
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
