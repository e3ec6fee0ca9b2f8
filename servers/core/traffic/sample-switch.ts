import type { Handlers } from "../../../contract/operation.ts";
import type { SampleViews, sampleActions } from "../../../contract/sample-traffic.ts";

/** The sample traffic of a service, with the page's actions that start and stop it. */
export interface SampleSwitch {
  stop(): void;
  readonly actions: Handlers<typeof sampleActions>;
}

interface SampleSwitchOptions {
  /** Begins the traffic. Returns the function that ends it. */
  readonly play: () => (() => void) | Promise<() => void>;
  readonly show: (view: SampleViews["sample"]) => void;
}

/** Starts and stops sample traffic, and publishes whether it runs. */
export function createSampleSwitch({ play, show }: SampleSwitchOptions): SampleSwitch {
  let end: (() => void) | undefined;

  async function start(): Promise<void> {
    let isStopped = false;
    end = () => {
      isStopped = true;
    };
    show({ running: true });
    try {
      const endTraffic = await play();
      if (isStopped) endTraffic();
      else end = endTraffic;
    } catch {
      if (!isStopped) stop();
    }
  }

  function stop(): void {
    if (!end) return;
    end();
    end = undefined;
    show({ running: false });
  }

  show({ running: false });
  return {
    stop,
    actions: {
      "sample.start"() {
        if (!end) void start();
        return null;
      },
      "sample.stop"() {
        stop();
        return null;
      },
    },
  };
}
