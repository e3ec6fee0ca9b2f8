import type { AppInfo } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { clockSeconds, isoTime } from "../../ui/texts/time.ts";
import { SettingRow, SettingsSection, settingTexts } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

/** Which Backlot this is, and where it keeps its data. */
export function useAppInfo() {
  const client = useControl();
  return useAnswer({ key: ["app.info"], ask: () => client.call("app.info") });
}

export function About() {
  return (
    <SettingsSection title={settingTexts.about.label}>
      <Answered answer={useAppInfo()} what="the version" compact>
        {(info) => <Facts info={info} />}
      </Answered>
    </SettingsSection>
  );
}

function Facts({ info }: { readonly info: AppInfo }) {
  const node = `Node ${info.node.replace(/^v/, "")}`;
  return (
    <>
      <SettingRow label="Backlot">
        <span className={styles.value}>
          {info.version}
          <CopyButton text={`Backlot ${info.version}, ${info.shell}, ${info.platform}, ${node}`} what="the versions" />
        </span>
      </SettingRow>
      <SettingRow label="Runs in">
        <span
          className={styles.value}
        >{`${info.shell === "electron" ? "its own window" : "the browser"}, on ${info.platform}, ${node}`}</span>
      </SettingRow>
      <SettingRow label="Started">
        <time className={styles.value} title={isoTime(info.startedAt)}>
          {clockSeconds(info.startedAt)}
        </time>
      </SettingRow>
      <SettingRow label="Data folder">
        <span className={styles.value}>
          <code>{info.dataDir}</code>
          <CopyButton text={info.dataDir} what="the folder" />
        </span>
      </SettingRow>
    </>
  );
}
