import type { PortCheck } from "../../../../contract/control.ts";

export const takenText = ({ port, holder }: PortCheck): string =>
  holder ? `${port} is taken by ${holder.name} (pid ${holder.pid})` : `${port} is taken by another process`;
