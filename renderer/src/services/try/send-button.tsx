import { Button } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { Tooltip } from "../../ui/tooltip.tsx";

interface SendButtonProps {
  readonly title?: string;
  readonly running: boolean;
  readonly sending: boolean;
  /** The input is valid. */
  readonly isValid?: boolean;
  readonly onSend: () => void;
}

/** The primary button of a Try tab; focusable while it is disabled. */
export function SendButton({ title = "Send", running, sending, isValid = true, onSend }: SendButtonProps) {
  const canSend = running && isValid;
  return (
    <Tooltip withinPortal={false} label={running ? `${title} (Ctrl Enter)` : "Start the service first"}>
      <Button
        variant="filled"
        miw={86}
        loading={sending}
        data-disabled={!canSend}
        aria-disabled={!canSend}
        onClick={() => canSend && onSend()}
        leftSection={<IconSend size={14} stroke={1.5} />}
      >
        {title}
      </Button>
    </Tooltip>
  );
}
