"""What anybody may read in a trace: words of PyTorch, of its profiler and of the makers of devices, none of which a user chose."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "ARGUMENT_KEYS",
    "CATEGORIES",
    "CPP_WORDS",
    "EVENT_KEYS",
    "KERNEL_NAMESPACES",
    "LABELS",
    "METADATA_KEYS",
    "OP_NAMESPACES",
    "OP_WORDS",
    "SETTING_NAMES",
    "SHAPE_KEYS",
    "VALUES",
    "plain_key",
]


def plain_key(key: str) -> str:
    """A key without case, blanks and underscores, in which exporters differ.

    >>> plain_key("External Id"), plain_key("external_id")
    ('externalid', 'externalid')
    """
    return re.sub(r"[ _]", "", key).lower()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _keys(text: str) -> frozenset[str]:
    return frozenset(plain_key(key.strip()) for key in text.split(","))


OP_NAMESPACES: Final = (
    "aten",
    "prim",
    "prims",
    "quantized",
    "mkldnn",
    "autograd",
    "profiler",
    "inductor",
    "torchvision",
    "c10d",
    "c10d_functional",
    "_c10d_functional",
    "_c10d_functional_autograd",
    "torch",
    "symm_mem",
    "rbln",
    "fbgemm",
)
"""Libraries of operators that are PyTorch's own, or the vendor's."""

OP_WORDS: Final = _words(
    """
    abs add addbmm addcdiv addcmul addmm alias all amax amin any arange argmax argmin as_strided avg_pool2d baddbmm batch_norm
    bernoulli bmm cat ceil clamp clamp_min clone constant_pad_nd contiguous conv1d conv2d conv3d convolution
    convolution_backward copy cos cross_entropy cumsum detach div dot dropout elu embedding embedding_dense_backward empty eq
    erf exp expand expm1 fill flatten flip floor full gather ge gelu gelu_backward group_norm gt hardswish index index_put
    index_select isnan item layer_norm le leaky_relu lerp linalg_vector_norm linear linspace log log_softmax log1p logical_and
    logical_not lt masked_fill matmul max max_pool2d maximum mean min minimum mish mm mse_loss mul narrow native_batch_norm
    native_dropout native_dropout_backward native_group_norm native_layer_norm native_layer_norm_backward ne neg nll_loss
    nonzero norm ones pad permute pixel_shuffle pow prod rand randn reciprocal relu repeat reshape rms_norm roll round rsqrt
    scaled_dot_product_attention scatter scatter_add select sigmoid sign silu sin slice softmax softmax_backward
    softmax_backward_data softplus sort split sqrt squeeze stack std sub sum t tan tanh threshold_backward to topk transpose
    tril triu unbind unsqueeze upsample_nearest2d var view where zero zeros args fused
    """
)
"""Common operators, which layers, programs and kernels are called after; and what the vendor's compiler calls inputs."""

KERNEL_NAMESPACES: Final = _words(
    """
    at aten c10 cask_cudnn cask_cudnn_infer ck cub cublas cudnn cudnn_infer cutlass std thrust
    """
)
"""Libraries whose kernels are public."""

CPP_WORDS: Final = _words(
    """
    void const volatile bool char short int long float double signed unsigned _anonymous operator lambda instance auto
    decltype true false
    """
)
"""Words of C++ in the name of a kernel."""

CATEGORIES: Final = _words(
    """
    cpu_op user_annotation gpu_user_annotation python_function cpu_instant_event kernel gpu_memcpy gpu_memset Operator Runtime
    Kernel Memcpy Memset cuda_runtime cuda_driver cuda_sync cuda_event cuda_profiler_range hip_runtime hip_driver xpu_runtime
    xpu_driver xpu_sync xpu_scope_profiler mtia_runtime mtia_ccp_events mtia_workloadd mtia_insight mtia_counters glow_runtime
    hpu_op privateuse1_runtime privateuse1_driver collective_comm rbln_sync rbln_workload rbln_runtime ac2g fwdbwd async
    async_cpu_to_gpu async_gpu HostToDevice dequeue enqueue overhead Trace
    """
)

EVENT_KEYS: Final = _words(
    """
    ph cat name pid tid ts dur tts tdur id id2 bp s args scope
    """
)

_ID_KEYS: Final = """
External id, Record function id, Ev Idx, Profiler Event Index, Sequence number, Fwd thread id, Fwd Thread Id, correlation,
correlation id, launch_id, cbid, cid, Python id, Python parent id, Python module id, Comms Id, Trace iteration, seq_num, sqid,
stream, stream id, queue, context, device, Device Id, Device Type, Process Group ID, Process Group Ranks, Group size, Global
rank start, Global rank stride, wait_on_stream, wait_on_cuda_event_id, wait_on_cuda_event_record_corr_id, cuda_sync_kind,
graph id, graph node id, rank, Rank, In split size, Out split size, instance, sequence, workload, command, command_index,
chiplet, program_id, local, global, row, column, host_ctx, sort_index, Op count, finished
"""
_SIZE_KEYS: Final = """
Bytes, size, size_bytes, Addr, Total Allocated, Total Reserved, memory bandwidth (GB/s), registers per thread, shared memory,
blocks per SM, warps per SM, grid, block, est. achieved occupancy %, queued, priority, kind, src, dst, direction,
compute_cycles, In msg nelems, Out msg nelems, dtype, Collective name, mem size, k_work_ptr, packet_ptr, bandwidth, flops,
Trace name
"""
_TEXT_KEYS: Final = (
    "Call stack, Module Hierarchy, kernel, kernel name, stage, name, labels, Process Group Name, Process Group Description"
)

SHAPE_KEYS: Final = _keys(
    "Input Dims, Input Strides, Input type, Concrete Inputs, Input Shapes, Kwinputs, Output Dims, Output Strides, Output type"
)
"""Shapes, types and plain numbers that operators were called with."""

ARGUMENT_KEYS: Final = _keys(f"{_ID_KEYS},{_SIZE_KEYS},{_TEXT_KEYS}") | SHAPE_KEYS

METADATA_KEYS: Final = _keys(
    """
    schemaVersion, deviceProperties, distributedInfo, displayTimeUnit, baseTimeNanoseconds, traceName, host_name, username,
    trace_id, record_shapes, profile_memory, with_stack, with_flops, with_modules, cupti_version, cuda_runtime_version,
    cuda_driver_version, roctracer_version, hip_runtime_version, hip_driver_version, rocprofiler_sdk_version, id, name,
    totalGlobalMem, computeMajor, computeMinor, maxThreadsPerBlock, maxThreadsPerMultiprocessor, regsPerBlock,
    regsPerMultiprocessor, warpSize, sharedMemPerBlock, sharedMemPerMultiprocessor, numSms, sharedMemPerBlockOptin,
    runtimeMajorVersion, runtimeMinorVersion, maxGridWidth, maxGridHeight, maxSharedMemoryPerMultiProcessor, backend, rank,
    world_size, pg_count, pg_config, nccl_version, pg_name, pg_desc, uid, backend_config, pg_size, ranks
    """
)

LABELS: Final = _words(
    """
    python python3 CPU Spans Traces Host host GPU NPU RBLN CUDA HIP XPU MTIA HPU collective compute copy sync memcpy memset
    launch runtime device PTThreadPool pt_main_thread pt_thread_pool pt_autograd pt_inductor
    """
) | {
    "PyTorch Profiler",
    "Trace PyTorch Profiler",
    "rbln",
    "Trace rbln",
    "CUPTI Overhead",
    "CPU functions",
    "Overlap Analysis",
    "Communication",
    "CANN",
    "Neural Engine Clusters",
    "Neural DMA",
    "Task DMA",
    "External HDMA",
    "Device HDMA",
    "Device Sync",
    "General Compute Engine",
    "Device Workload",
    "Unknown",
    "Unknown engine",
    "stream",
    "workload",
}
"""Names of processes, threads and rows that profilers and drivers give."""

VALUES: Final = _words(
    """
    g p t e ns us ms s nccl gloo mpi ucc xccl hccl cpu cuda rbln npu xpu hip mtia hpu default default_pg undefined Byte Char
    Short Int Long Half Float Double Bool BFloat16 ComplexFloat ComplexDouble float double int bool None True False HtoD DtoH
    DtoD HtoH PtoP HOST_TO_DEVICE DEVICE_TO_HOST DEVICE_TO_DEVICE allreduce all_reduce allgather all_gather
    all_gather_into_tensor all_gather_base _allgather_base reduce reduce_scatter reduce_scatter_tensor _reduce_scatter_base
    broadcast barrier send recv gather scatter all_to_all all_to_allv alltoall allreduce_coalesced all_gather_coalesced wait
    coalesced Scalar ScalarList TensorList GenericList Tensor c10::Half c10::BFloat16 c10::Float8_e4m3fn c10::Float8_e5m2
    signed unsigned dtype-not-fp16 trace
    """
) | {
    "",
    "long int",
    "short int",
    "signed char",
    "unsigned char",
    "unsigned int",
    "long unsigned int",
    "c10::complex<float>",
    "c10::complex<double>",
    "Context Sync",
    "Stream Sync",
    "Event Sync",
    "Stream Wait Event",
    "Dispatch Task",
    "Dispatch Kernel",
    "PyTorch Profiler",
    "first call",
    "new shape",
    "new shape or type",
    "nan/inf input",
    "cpu:gloo",
    "cuda:nccl",
    "cpu:gloo,cuda:nccl",
    "device memory (bytes)",
    "host real time",
    "host monotonic",
}
"""Texts that an argument, a reason or a counter may have: words of C++, PyTorch, its collectives and our own runtime."""

SETTING_NAMES: Final = _words(
    """
    RBLN_PROFILER RBLN_PROFILER_DIR RBLN_RUNTIME_FORCE_SYNC RBLN_CTX_STANDALONE RBLN_DEVICES RBLN_ROOT_IP RBLN_LOCAL_IP
    RBLN_NUM_THREADS RBLN_LOG_LEVEL
    """
)
"""Names of the vendor's environment variables."""
