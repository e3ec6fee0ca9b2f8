/** Of a start that does not go on. */
export interface StartDeadline {
  /** The process has said what it does: the time begins anew. */
  renew(doing: string): void;
  clear(): void;
}

/** `onMissed` gets what the process said last, if it has said anything. */
export function startDeadline(ms: number, onMissed: (doing: string | undefined) => void): StartDeadline {
  let timer = setTimeout(onMissed, ms, undefined);
  let isOver = false;
  return {
    renew(doing) {
      if (isOver) return;
      clearTimeout(timer);
      timer = setTimeout(onMissed, ms, doing);
    },
    clear() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
