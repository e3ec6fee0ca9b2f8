import { Button, Group, getDefaultZIndex, Modal } from "@mantine/core";
import { createContext, type FormEvent, type ReactNode, useContext } from "react";
import { submitOnCtrlEnter } from "../keys.ts";
import { Boundary } from "../status/boundary.tsx";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly opened: boolean;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly size?: "sm" | "lg";
  /** It may be opened from another dialog, and lies over it; of dialogs that are alike the one that was rendered last does. */
  readonly isAbove?: boolean;
  onClose(): void;
}

/** Whether a dialog lies over those in here: Escape is for that one alone. */
export const CoveredContext = createContext(false);

/** Composed of Mantine's parts, because the `header` of its complete modal would be a second banner landmark. */
export function Dialog({ opened, title, children, size = "sm", isAbove = false, onClose }: DialogProps) {
  const isCovered = useContext(CoveredContext);
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      size={size}
      centered
      zIndex={getDefaultZIndex("modal") + (isAbove ? 1 : 0)}
      closeOnEscape={!isCovered}
    >
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content>
        <Modal.Body className={styles.body}>
          <Modal.Title className={styles.title}>{title}</Modal.Title>
          <Boundary region={typeof title === "string" ? `dialog: ${title}` : "dialog"}>{children}</Boundary>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The buttons of a dialog, in one line at its lower right; the one that acts comes last. */
export function DialogButtons({ children }: { readonly children: ReactNode }) {
  return (
    <Group justify="flex-end" mt="lg" gap="sm">
      {children}
    </Group>
  );
}

interface FormDialogProps extends DialogProps {
  /** What the button does: "Export". */
  readonly action: string;
  readonly disabled?: boolean;
  /** The dialog has no fields to fill in, so the button has the initial focus. */
  readonly isQuestion?: boolean;
  /** The action is destructive. */
  readonly isDestructive?: boolean;
  /** What the button says that closes it: "Close" where what was typed is kept. */
  readonly close?: string;
  /** Buttons between that and the one that acts. */
  readonly others?: ReactNode;
  /** Not called while it is disabled. */
  onSubmit(): void;
}

/** A dialog with fields: Enter, Ctrl Enter and the button submit, Cancel and Escape close. Long texts are kept in unsaved drafts when it closes. */
export function FormDialog(props: FormDialogProps) {
  const {
    action,
    disabled = false,
    isQuestion = false,
    isDestructive = false,
    close = "Cancel",
    others,
    onSubmit,
    children,
    ...dialog
  } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!disabled) onSubmit();
  };
  return (
    <Dialog {...dialog}>
      <form onSubmit={submit} onKeyDown={submitOnCtrlEnter}>
        {children}
        <DialogButtons>
          <Button onClick={dialog.onClose}>{close}</Button>
          {others}
          <Button
            type="submit"
            variant={isDestructive ? "destructive" : "filled"}
            disabled={disabled}
            data-autofocus={isQuestion || undefined}
          >
            {action}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
