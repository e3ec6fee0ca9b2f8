import { ActionIcon } from "@mantine/core";
import { IconEye, IconEyeOff } from "@tabler/icons-react";
import { useState } from "react";
import { Tooltip } from "../tooltip.tsx";

interface RevealButtonProps {
  /** Name of the secret: "the password". */
  readonly what: string;
  readonly revealed: boolean;
  readonly onToggle: () => void;
}

/** Reveals and masks a secret. */
function RevealButton({ what, revealed, onToggle }: RevealButtonProps) {
  const label = `${revealed ? "Hide" : "Reveal"} ${what}`;
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={onToggle}>
        {revealed ? <IconEyeOff size={14} stroke={1.5} /> : <IconEye size={14} stroke={1.5} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Whether a secret is shown, and its button. Initially masked, and again after the page was left. */
export function useReveal(what: string) {
  const [revealed, setRevealed] = useState(false);
  return { revealed, button: <RevealButton what={what} revealed={revealed} onToggle={() => setRevealed(!revealed)} /> };
}
