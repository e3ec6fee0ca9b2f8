import { ActionIcon, Tooltip } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";

interface RevealButtonProps {
  /** What is masked: "the password". */
  readonly what: string;
  readonly revealed: boolean;
  readonly onToggle: () => void;
}

/** Shows what is masked, and masks it again. */
export function RevealButton({ what, revealed, onToggle }: RevealButtonProps) {
  const label = `${revealed ? "Hide" : "Reveal"} ${what}`;
  return (
    <Tooltip label={label}>
      <ActionIcon size={20} aria-label={label} onClick={onToggle}>
        {revealed ? <IconEyeOff size={14} stroke={1.5} /> : <IconEye size={14} stroke={1.5} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Whether a secret is shown, and its button. Masked at first, and again when the page is left. */
export function useReveal(what: string) {
  const [revealed, setRevealed] = useState(false);
  return { revealed, button: <RevealButton what={what} revealed={revealed} onToggle={() => setRevealed(!revealed)} /> };
}
