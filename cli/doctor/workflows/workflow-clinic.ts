import type { Clinic } from '../clinic.ts';
import { prepareWorkflow, type WorkflowBed } from './workflow-bed.ts';
import { workflowProbes } from './workflow-probes.ts';

export const workflowClinic: Clinic<WorkflowBed> = {
  service: 'workflows',
  prepare: prepareWorkflow,
  probes: workflowProbes,
};
