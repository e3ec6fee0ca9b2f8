/** A broker in a process of its own, to be killed or starved: `run-broker.ts DATA-DIR [CONFIG as JSON]`. Prints its endpoints as JSON, then its log. */
import { readLogs } from "../../servers/core/service/log.ts";
import { runService } from "../../servers/core/service/run-service.ts";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";

const quiet = { port: 0, webSocketPort: 0, tlsPort: 0, secureWebSocketPort: 0, webSocket: false, tls: false, sysIntervalSeconds: 0 };
const [, , dataDir = "", config = "{}"] = process.argv;
const logs: string[] = [];
let print = (line: string): void => void logs.push(line);
const running = runService(mqttService, {
  config: { ...quiet, ...JSON.parse(config) },
  dataDir,
  onBatch(batch) {
    for (const { text } of readLogs(batch.logs)) print(text);
    // Some lines come while it starts.
    void running.then(({ outbox }) => outbox.ack(batch.seq));
  },
});
const { endpoints } = await running;
console.log(JSON.stringify(endpoints));
print = console.log;
for (const line of logs) print(line);
