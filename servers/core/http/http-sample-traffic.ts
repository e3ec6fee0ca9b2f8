import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { type SampleViews, sampleAgent } from "../../../contract/sample-traffic.ts";
import { createSampleSwitch, type SampleSwitch } from "../traffic/sample-switch.ts";

/** As the client software that it names. Resolves with the complete answer, or with undefined if there is none. A body is sent as JSON. */
export type SendSample = (options: RequestOptions & { readonly software: string }, body?: unknown) => Promise<SampleAnswer | undefined>;

export interface SampleAnswer {
  readonly status: number;
  readonly text: string;
}

export interface HttpSample {
  readonly intervalMs: number;
  readonly maxSockets: number;
  /** Called at each start; what it returns is called at each interval. `stop` ends the traffic. */
  readonly begin: (send: SendSample, stop: () => void) => () => void;
}

interface HttpSampleOptions extends HttpSample {
  readonly port: number;
  readonly show: (view: SampleViews["sample"]) => void;
}

/** An HTTP client of our own on loopback that sends real requests, so that a new user sees traffic. */
export function createHttpSampleTraffic({ port, intervalMs, maxSockets, begin, show }: HttpSampleOptions): SampleSwitch {
  function play(): () => void {
    const agent = new Agent({ keepAlive: true, maxSockets });
    const open = new Set<ClientRequest>();
    const send: SendSample = ({ headers, software, ...options }, body) =>
      new Promise((resolve) => {
        const request = httpRequest({
          host: "127.0.0.1",
          port,
          agent,
          ...options,
          headers: {
            ...headers,
            "User-Agent": `${software} ${sampleAgent}`,
            ...(body !== undefined && { "Content-Type": "application/json" }),
          },
        });
        open.add(request);
        // The service may refuse or be stopped: then nothing is shown.
        const failed = () => resolve(undefined);
        request.on("response", (response) => {
          const { statusCode: status = 0 } = response;
          text(response).then((content) => resolve({ status, text: content }), failed);
        });
        request.on("error", failed);
        request.on("close", () => open.delete(request));
        request.end(body === undefined ? undefined : JSON.stringify(body));
      });
    const timer = setInterval(
      begin(send, () => sample.stop()),
      intervalMs,
    );
    return () => {
      clearInterval(timer);
      for (const request of open) request.destroy();
      agent.destroy();
    };
  }

  const sample = createSampleSwitch({ play, show });
  return sample;
}
