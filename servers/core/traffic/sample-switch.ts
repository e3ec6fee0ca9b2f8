/** The sample traffic of a service, with the page's actions that start and stop it. */
export interface SampleSwitch {
  stop(): void;
  readonly actions: { readonly "sample.start": () => null; readonly "sample.stop": () => null };
}

interface SampleSwitchOptions {
  /** Begins the traffic. Returns the function that ends it. */
  readonly play: () => (() => void) | Promise<() => void>;
  readonly show: (view: { readonly running: boolean }) => void;
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
