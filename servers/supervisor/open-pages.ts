import type { DownFrame, Port } from "../../contract/wire.ts";

interface OpenPagesOptions {
  /** A page that is loaded again, or that has lost its connection, is back within this time. */
  readonly restMs: number;
  /** No page has been open for that time. */
  readonly onLeft: () => void;
}

export interface OpenPages {
  /** Counts a page until its port closes. */
  add(port: Pick<Port<DownFrame, unknown>, "onClose">): void;
  close(): void;
}

/** Knows when all pages of Backlot were left, and not only loaded again. */
export function createOpenPages({ restMs, onLeft }: OpenPagesOptions): OpenPages {
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  return {
    add(port) {
      open++;
      clearTimeout(timer);
      port.onClose(() => {
        if (--open === 0 && !isClosed) timer = setTimeout(onLeft, restMs);
      });
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
