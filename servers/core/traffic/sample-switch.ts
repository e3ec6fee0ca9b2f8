import { isDeepStrictEqual } from "node:util";
import type { SampleViews } from "../../../contract/sample-traffic.ts";

/** The sample traffic of a service, with the page's actions that start and stop it. */
export interface SampleSwitch<Params extends object = object> {
  stop(): void;
  readonly actions: {
    /** With other parameters than it was started with, the traffic begins again. */
    "sample.start"(params: Params): null;
    "sample.stop"(): null;
  };
}

interface SampleSwitchOptions<Params extends object> {
  /** Begins the traffic. Returns the function that ends it. */
  readonly play: (params: Params) => (() => void) | Promise<() => void>;
  /** Throws where it cannot begin now. */
  readonly check?: () => void;
  readonly show: (view: SampleViews<Params>["sample"]) => void;
}

/** Starts and stops sample traffic, and publishes whether it runs. */
export function createSampleSwitch<Params extends object = object>({
  play,
  check,
  show,
}: SampleSwitchOptions<Params>): SampleSwitch<Params> {
  let running: { readonly params: Params; end: () => void } | undefined;

  async function start(params: Params): Promise<void> {
    let isStopped = false;
    const started = {
      params,
      end: () => {
        isStopped = true;
      },
    };
    running = started;
    show({ running: true, params });
    try {
      const end = await play(params);
      if (isStopped) end();
      else started.end = end;
    } catch {
      if (!isStopped) stop();
    }
  }

  function stop(): void {
    if (!running) return;
    running.end();
    running = undefined;
    show({ running: false });
  }

  show({ running: false });
  return {
    stop,
    actions: {
      "sample.start"(params) {
        if (isDeepStrictEqual(running?.params, params)) return null;
        check?.();
        running?.end();
        void start(params);
        return null;
      },
      "sample.stop"() {
        stop();
        return null;
      },
    },
  };
}
