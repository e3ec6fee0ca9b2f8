import { Checkbox, Switch } from "@mantine/core";
import type { AppSettings } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { useAnswer } from "../../control/use-answer.ts";
import { useServices } from "../../control/use-store.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { useAppInfo } from "./about.tsx";
import { NumberSetting } from "./number-setting.tsx";
import { SettingRow, SettingsSection, settingTexts } from "./setting-row.tsx";
import styles from "./settings-page.module.css";

export function ProgramSettings() {
  const client = useControl();
  const settings = useAnswer({ key: ["app.settings"], ask: () => client.call("app.settings") });
  const write = (change: Partial<AppSettings>) => void attempt(client.call("app.setSettings", change).then(settings.set));
  return (
    <Answered answer={settings} what="the settings" compact>
      {(value) => <SettingFields settings={value} onWrite={write} />}
    </Answered>
  );
}

interface SettingFieldsProps {
  readonly settings: AppSettings;
  readonly onWrite: (change: Partial<AppSettings>) => void;
}

function SettingFields({ settings, onWrite: write }: SettingFieldsProps) {
  const services = useServices().filter((service) => service.built);
  const { value: info } = useAppInfo();
  const { startAtLaunch } = settings;
  return (
    <>
      <SettingsSection title="Starting">
        <SettingRow label={settingTexts.startAtLaunch.label} help="Services to start when Backlot opens. Others are started by hand.">
          <div className={styles.services}>
            {services.map(({ id, title }) => (
              <Checkbox
                key={id}
                size="xs"
                label={title}
                checked={startAtLaunch.includes(id)}
                onChange={(event) =>
                  write({
                    startAtLaunch: event.currentTarget.checked ? [...startAtLaunch, id] : startAtLaunch.filter((other) => other !== id),
                  })
                }
              />
            ))}
          </div>
        </SettingRow>
        {info?.shell === "electron" && (
          <SettingRow
            label={settingTexts.keepRunningInTray.label}
            help="Closing the window leaves the services running; the tray shows and stops them."
            name="keep-running"
          >
            <Switch
              id="keep-running"
              checked={settings.keepRunningInTray}
              onChange={(event) => write({ keepRunningInTray: event.currentTarget.checked })}
            />
          </SettingRow>
        )}
      </SettingsSection>
      <SettingsSection title="Kept traffic">
        <NumberSetting
          label={settingTexts.keptRows.label}
          help="The oldest are evicted. Open rows are kept beside them."
          unit="rows"
          minimum={1_000}
          maximum={200_000}
          value={settings.keptRows}
          onSave={(keptRows) => write({ keptRows })}
        />
        <NumberSetting
          label={settingTexts.trafficMebibytes.label}
          help="When it is full, rows of the service that holds the most are evicted."
          unit="MiB"
          minimum={16}
          maximum={4_096}
          value={settings.trafficMebibytes}
          onSave={(trafficMebibytes) => write({ trafficMebibytes })}
        />
      </SettingsSection>
    </>
  );
}
