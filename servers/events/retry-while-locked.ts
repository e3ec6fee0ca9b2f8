import { ServiceError } from "../core/service/service-error.ts";

const standardMs = 2_000;
const pauseMs = 25;

/** Tries again while another program holds the database; between the tries everything else has its turn. */
export async function retryWhileLocked<Result>(work: () => Promise<Result>, forMs = standardMs): Promise<Result> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isLocked = error instanceof ServiceError && error.code === "STORE_LOCKED";
      if (!isLocked || performance.now() - startedAt >= forMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
