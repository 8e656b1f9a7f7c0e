import { Duration } from 'aws-cdk-lib/core';
import type { StreamJobProps } from './stream-job-props.ts';

/** How a prop appears in the description: under which name, and as what. */
type Translation = readonly [name: string, convert: (value: unknown) => unknown] | 'not described';

const OPERATOR_PROPS: Readonly<Record<string, Translation>> = {
  batchingWindow: ['batchingWindowSeconds', toSeconds],
  timeout: ['timeoutSeconds', toSeconds],
  memorySize: ['memorySizeMb', (value) => value],
};

const SOURCE_PROPS: Readonly<Record<string, Translation>> = {
  stream: 'not described',
  retention: ['retentionHours', toHours],
};

const HEARTBEAT_PROPS: Readonly<Record<string, Translation>> = {
  every: ['everyMinutes', toMinutes],
  behind: ['behindSeconds', toSeconds],
};

const CHECKPOINTING_PROPS: Readonly<Record<string, Translation>> = {
  interval: ['intervalSeconds', toSeconds],
  timeout: ['timeoutSeconds', toSeconds],
  minPause: ['minPauseSeconds', toSeconds],
  backup: 'not described',
};

const JOB_PROPS: Readonly<Record<string, Translation>> = {
  removalPolicy: 'not described',
  encryption: 'not described',
  vpc: 'not described',
  bundle: 'not described',
  source: ['source', (value) => translate(value, SOURCE_PROPS)],
  checkpointing: ['checkpointing', (value) => translate(value, CHECKPOINTING_PROPS)],
  generationRetention: ['generationRetentionHours', toHours],
  heartbeat: ['heartbeat', (value) => translate(value, HEARTBEAT_PROPS)],
  cloneOf: ['cloneOf', toJobName],
  operators: [
    'operators',
    (value) =>
      Array.isArray(value) ? value.map((operator) => translate(operator, OPERATOR_PROPS)) : value,
  ],
};

/**
 * The props as `checkJob` reads them: plain numbers, and every prop that nobody knows left in, for
 * Node runs the sources without checking their types.
 */
export function describeJob(props: StreamJobProps): unknown {
  return translate(props, JOB_PROPS);
}

function translate(value: unknown, known: Readonly<Record<string, Translation>>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([prop, given]) => {
      const translation = known[prop] ?? [prop, (same: unknown) => same];
      if (translation === 'not described' || given === undefined) return [];
      const [name, convert] = translation;
      return [[name, convert(given)]];
    }),
  );
}

function toJobName(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'jobName' in value ? value.jobName : value;
}

// Not integral: a fraction is for `checkJob` to refuse, together with everything else.
function toSeconds(value: unknown): unknown {
  return value instanceof Duration ? value.toSeconds({ integral: false }) : value;
}

function toMinutes(value: unknown): unknown {
  return value instanceof Duration ? value.toMinutes({ integral: false }) : value;
}

function toHours(value: unknown): unknown {
  return value instanceof Duration ? value.toHours({ integral: false }) : value;
}
