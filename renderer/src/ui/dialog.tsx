import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./dialog.module.css";

interface DialogProps {
  readonly opened: boolean;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly size?: "sm" | "lg";
  onClose(): void;
}

/** Put together from parts: the ready-made modal's `header` would be a second banner of the page. */
export function Dialog({ opened, title, children, size = "sm", onClose }: DialogProps) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={size} centered>
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content>
        <Modal.Body className={styles.body}>
          <Modal.Title className={styles.title}>{title}</Modal.Title>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
