import { UnstyledButton } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import styles from "./fold-title.module.css";
import { SectionTitle } from "./panel.tsx";

interface FoldTitleProps {
  readonly title: string;
  readonly open: boolean;
  readonly onToggle: () => void;
  /** There is nothing to unfold. */
  readonly disabled?: boolean;
}

/** The title of a panel that can be folded: it is the button, with its chevron. */
export const FoldTitle = ({ title, open, onToggle, disabled = false }: FoldTitleProps) => (
  <SectionTitle>
    <UnstyledButton className={styles.fold} data-open={open && !disabled} aria-expanded={open} onClick={onToggle} disabled={disabled}>
      <IconChevronDown size={14} stroke={1.5} />
      {title}
    </UnstyledButton>
  </SectionTitle>
);
