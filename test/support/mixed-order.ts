import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The processor is what tests of windows need most. */
const drivesBrowser = /[\\/]test[\\/](?:browser|electron)[\\/]/;
/** Means of a quiet machine: how long a file takes is not known in a fresh clone. */
const secondsOf = (file: string): number => (file.includes("browser") ? 35 : drivesBrowser.test(file) ? 12 : 4);

/**
 * Long files first, so that none of them is left alone at the end, and those that drive a browser spread over the whole run:
 * beside them run those that wait for clocks and other programs.
 */
export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longFirst = await super.sort(files);
    const queues = [
      longFirst.filter(({ moduleId }) => drivesBrowser.test(moduleId)),
      longFirst.filter(({ moduleId }) => !drivesBrowser.test(moduleId)),
    ];
    const secondsLeft = (queue: readonly TestSpecification[]) => queue.reduce((sum, { moduleId }) => sum + secondsOf(moduleId), 0);
    const totals = queues.map(secondsLeft);
    return longFirst.map(() => {
      const [browser = [], other = []] = queues;
      const browserIsAhead = secondsLeft(browser) / (totals[0] ?? 1) < secondsLeft(other) / (totals[1] ?? 1);
      return ((browser.length > 0 && !browserIsAhead) || other.length === 0 ? browser : other).shift() as TestSpecification;
    });
  }
}
