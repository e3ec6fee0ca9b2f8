import type { ServiceContext } from "./service.ts";

const reportedEveryMs = 1_000;

/**
 * Waits for a step of a start. While it takes longer than a second, the page and the log say what is done, and the start has its time anew:
 * the step needs a limit of its own.
 */
export async function longStep<Result>(
  { progress }: Pick<ServiceContext, "progress">,
  doing: string,
  step: Promise<Result>,
): Promise<Result> {
  const timer = setInterval(() => progress(doing), reportedEveryMs);
  try {
    return await step;
  } finally {
    clearInterval(timer);
  }
}
