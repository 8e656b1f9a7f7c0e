import { describe, expect, it } from 'vitest';
import { readEndpoints } from '../../../../cli/doctor/endpoints.ts';
import { doctorServices } from '../../../../cli/doctor/finding.ts';

const local = 'http://127.0.0.1:4566';

describe('endpoints of the doctor', () => {
  it('are the one for all, but for services with their own', () => {
    const own = 'http://127.0.0.1:8000';
    const env = { AWS_ENDPOINT_URL: local, AWS_ENDPOINT_URL_SFN: own, AWS_ENDPOINT_URL_S3: '' };
    const endpoints = readEndpoints(env, doctorServices, false);
    expect(endpoints).toEqual({
      ...{ dynamodb: local, s3: local, kinesis: local, lambda: local, workflows: own },
    });
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['there is none', {}],
    ['it is set to nothing', { AWS_ENDPOINT_URL: '' }],
    ['it is one of AWS', { AWS_ENDPOINT_URL: 'https://dynamodb.eu-central-1.amazonaws.com' }],
    ['it is a new one of AWS', { AWS_ENDPOINT_URL: 'https://dynamodb.eu-central-1.api.aws' }],
    ['one service has none', { AWS_ENDPOINT_URL_S3: local, AWS_ENDPOINT_URL_KINESIS: local }],
  ])('are refused where %s', (_title, env) => {
    expect(() => readEndpoints(env, ['dynamodb', 's3'], false)).toThrow(
      /dynamodb.* would be asked of AWS itself.*--aws/,
    );
    expect(readEndpoints(env, ['dynamodb', 's3'], true)).toBeDefined();
  });

  it('are needed of those services alone that are asked', () => {
    expect(readEndpoints({ AWS_ENDPOINT_URL_S3: local }, ['s3'], false).s3).toBe(local);
    // A mapping reads a stream, and its function writes to a table.
    const env = { AWS_ENDPOINT_URL_LAMBDA: local };
    expect(() => readEndpoints(env, ['lambda'], false)).toThrow('dynamodb, kinesis, s3');
  });
});
