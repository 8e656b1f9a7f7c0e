import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  readHeartbeatEnvironment,
  writeHeartbeatEnvironment,
} from '../../../shared/config/environment.ts';

const environment = {
  job: 'orders',
  streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/orders',
  behindSeconds: 90,
};

describe('the environment of the heartbeat function', () => {
  it.each([0, 90, 31_536_000])('is read as it was written, %d s behind', (behindSeconds) => {
    const written = { ...environment, behindSeconds };
    expect(readHeartbeatEnvironment(writeHeartbeatEnvironment(written))).toEqual(written);
  });

  it('is refused with every variable that is missing', () => {
    expect(() => readHeartbeatEnvironment({})).toThrow(
      /environment of the heartbeat function: 3 problems\n {2}- HOLDFAST_JOB: got nothing.*\n {2}- HOLDFAST_STREAM_ARN: got nothing.*\n {2}- HOLDFAST_HEARTBEAT_BEHIND_SECONDS: got nothing/,
    );
  });

  it.each(['-1', '1.5', '', '31536001', 'soon'])('is refused where it is %j s behind', (text) => {
    const variables = {
      ...writeHeartbeatEnvironment(environment),
      HOLDFAST_HEARTBEAT_BEHIND_SECONDS: text,
    };
    const read = () => readHeartbeatEnvironment(variables);
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(
      `HOLDFAST_HEARTBEAT_BEHIND_SECONDS: got ${JSON.stringify(text)}, expected a whole number of seconds from 0 to 31536000`,
    );
  });
});
