import { Tooltip as MantineTooltip, type TooltipProps } from "@mantine/core";
import { useEffect, useState } from "react";

/** Closed when its page is left: what would close it there does not happen while the page is hidden, and it would be open when it is shown again. */
export function Tooltip({ disabled = false, ...props }: TooltipProps) {
  const [wasLeft, setLeft] = useState(false);
  useEffect(() => {
    setLeft(false);
    return () => setLeft(true);
  }, []);
  return <MantineTooltip {...props} disabled={disabled || wasLeft} />;
}
